/** The column of a value inside an object: `supplier.name` is `supplier_name`. A key without a path is itself. */
export function columnNameOf(path: string): string {
  if (!/[.[]/.test(path)) return path
  const words = path.split(/[^\p{L}\p{N}_-]+/u).filter((word) => word !== '')
  return words.length === 0 ? path : words.join('_')
}
