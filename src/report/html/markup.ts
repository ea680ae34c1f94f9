import { inert } from '../inert.ts'

/** HTML that is safe to stand in a page. Made by `html` alone. */
export interface Markup {
  readonly markup: string
}

type Value = string | number | Markup | readonly Markup[] | undefined

/** A template whose values are text: they are escaped, unless they are markup themselves. Its own indent is left out. */
export function html(template: TemplateStringsArray, ...values: Value[]): Markup {
  const parts = withoutIndent(template)
  let markup = parts[0]!
  values.forEach((value, index) => {
    markup += (typeof value === 'object' ? markupOf(value) : escaped(value)) + parts[index + 1]!
  })
  return { markup }
}

/** The same on several lines, for `pre`. */
export function lines(text: string): Markup {
  return { markup: text.split('\n').map(escaped).join('\n') }
}

/** What is shown where something of a drawing is pointed at. */
export function titled(text: string): Markup {
  return { markup: `<title>${escaped(text)}</title>` }
}

const indented = new Map<TemplateStringsArray, string[]>()

/** It would be a third of the page of a large run. */
function withoutIndent(template: TemplateStringsArray): string[] {
  const known = indented.get(template)
  if (known) return known
  const parts = template.map((part) => part.replace(/>\s*\n\s*</g, '><').replace(/\n\s*/g, '\n'))
  indented.set(template, parts)
  return parts
}

/** Only for what sluice itself has written: style and script. */
export function verbatim(markup: string): Markup {
  return { markup }
}

/** JSON in a script element, which ends at the first `</script`, in whatever string that stands. */
export function embeddedJson(value: unknown): Markup {
  // Line separators are line ends in a script, though not in JSON.
  const text = JSON.stringify(value).replace(/[<>&\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, codePoint)
  return { markup: text }
}

function markupOf(value: Markup | readonly Markup[]): string {
  return 'markup' in value ? value.markup : value.map(({ markup }) => markup).join('')
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Also what turns the direction of text, and what no HTML may hold, such as NUL: shown by its code. */
function escaped(value: string | number | undefined): string {
  return value === undefined ? '' : inert(String(value)).replace(/[&<>"']/g, (character) => ENTITIES[character]!)
}

function codePoint(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
