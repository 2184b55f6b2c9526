/** Hands a file to whoever looks at the page. */
export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content)
  Object.assign(document.createElement('a'), { href: address, download: name }).click()
  // The browser reads it after this returns.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
