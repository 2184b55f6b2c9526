/** The language a question is most likely written in; null where nothing speaks for another than English. */
export type Language = 'de' | 'fr' | 'es' | 'it' | 'nl' | 'pt' | 'other'

// Words that questions are made of and that no other of these languages, nor English, has.
const tellingWords: Record<Exclude<Language, 'other'>, string> = {
  de: 'der das den dem und ist sind wie viele viel wir haben hat für von vom zum zur im bei mit welche welcher welches wer wann wo warum zeige zeig alle gibt unser unsere nicht letzten letzte letztes diesem dieses ich bitte',
  fr: 'le les des du et est sont combien nous avons pour avec quel quelle quels quelles qui où quand pourquoi montre montrez tous toutes notre nos dans sur dernier dernière cette ce je voudrais',
  es: 'el los las del y cuánto cuántos cuántas cuanto cuantos cuantas tenemos para con qué cuál cuáles quién quiénes dónde cuándo muestra muéstrame todos todas nuestro nuestros hay último pasado este esta',
  it: 'il gli della delle dei degli è sono quanto quanti quante abbiamo quale quali chi dove quando perché mostra tutti tutte nostro nostri nel nella scorso ultimo questo questa',
  nl: 'het een van zijn hoeveel wij hebben heeft voor met welke wie wanneer waar waarom toon laat alle onze ons niet vorige laatste deze dit',
  pt: 'os as do da dos das e são quanto quantos quantas temos para com qual quais quem onde quando mostre todos todas nosso nossos não último passado este',
}

const english =
  'the a an of and is are was were do does did how many much what which who whom when where why show list give me us our we you i my this that these those for from with in on at to by have has had all not any there it be can please'

const wordsOf = Object.entries(tellingWords).map(
  ([language, words]) => [language as Exclude<Language, 'other'>, new Set(words.split(' '))] as const,
)
const englishWords = new Set(english.split(' '))
const leastTelling = 2
// Most letters of another script: whatever it says, it is not English.
const otherScript = /[\p{L}--\p{Script=Latin}]/gv
const anyLetter = /\p{L}/gu

export function languageOf(text: string): Language | null {
  const letters = text.match(anyLetter)?.length ?? 0
  if (letters > 0 && (text.match(otherScript)?.length ?? 0) * 2 > letters) return 'other'
  const said = text.toLowerCase().match(/[\p{L}’']+/gu) ?? []
  const known = said.filter((word) => englishWords.has(word)).length
  let best: { language: Language; count: number } | null = null
  for (const [language, telling] of wordsOf) {
    const count = said.filter((word) => telling.has(word)).length
    if (count > (best?.count ?? 0)) best = { language, count }
  }
  return best !== null && best.count >= leastTelling && best.count > known ? best.language : null
}
