/** The maximum length of a quotation. The reader of the message has typed the text, and recognizes its beginning. */
const LONGEST = 120

/** A typed text for a message: in quotes, shortened, and on one line. */
export function quote(text: string): string {
  return JSON.stringify(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)
}
