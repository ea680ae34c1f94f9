/**
 * Characters that a terminal or a reader may interpret: control characters (escape sequences begin with one), line separators, and marks
 * that change the direction of text.
 */
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const ACTIVE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g
const WHITE_SPACE = /[\t\n\r]+/g

/** Text from a cluster, a load balancer or a file, on one line and without effect on the terminal. */
export function inert(text: string): string {
  return text.replace(WHITE_SPACE, ' ').replace(ACTIVE, escape)
}

/** JSON for a terminal. */
export function inertJson(value: unknown, indent?: number): string {
  return inertJsonText(JSON.stringify(value, null, indent))
}

/** Escapes the active characters that JSON leaves alone. Apart from line ends they occur within strings only. */
export function inertJsonText(json: string): string {
  return json.replace(ACTIVE, (character) => (character === '\n' ? character : escape(character)))
}

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
