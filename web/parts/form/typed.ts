type Typed = { value: string; disabled?: boolean; onChange: (event: { currentTarget: { value: string } }) => void }
type TextOf<Draft> = { [Name in keyof Draft]: Draft[Name] extends string ? Name : never }[keyof Draft]

/** Fields of text by their names: each shows its part of a draft and changes it. */
export function typed<Draft>(draft: Draft, change: (part: Partial<Draft>) => void, disabled = false) {
  return (name: TextOf<Draft> & string): Typed => ({
    value: String(draft[name]),
    ...(disabled && { disabled }),
    onChange: (event) => change({ [name]: event.currentTarget.value } as Partial<Draft>),
  })
}
