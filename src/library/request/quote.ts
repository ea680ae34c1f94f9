/** Whoever reads the message has typed it: the beginning is enough to find it. */
const LONGEST = 120

/** What was typed, for a message: in quotes, on one line, and not longer than one. */
export function quote(text: string): string {
  return JSON.stringify(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)
}
