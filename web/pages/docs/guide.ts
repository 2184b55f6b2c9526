/** A page of `docs/`, made when the app is built: what the browser gets is ready to be shown. */
export type Guide = { title: string; headings: GuideHeading[]; parts: GuidePart[] }
export type GuideHeading = { id: string; text: string; depth: number }
/** Code is apart from the text around it, because it comes with a button. An answer is what the code before it prints. */
export type GuidePart = { html: string } | { code: string; isAnswer: boolean }
/** A hit of the search: the text under one heading. */
export type GuideSection = { id: string; title: string; heading: string; text: string }

/** The same when the index is made and when it is asked. */
export const searchOptions = {
  fields: ['title', 'heading', 'text'],
  storeFields: ['title', 'heading', 'text'],
}
