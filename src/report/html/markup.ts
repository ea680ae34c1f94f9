import { inert } from '../inert.ts'

/** HTML that is safe to insert into a page. Only `html` creates it. */
export interface Markup {
  readonly markup: string
}

type Value = string | number | Markup | readonly Markup[] | undefined

/** A template whose values are text: they are escaped, except for markup. The indent of the template is left out. */
export function html(template: TemplateStringsArray, ...values: Value[]): Markup {
  const parts = withoutIndent(template)
  let markup = parts[0]!
  values.forEach((value, index) => {
    markup += (typeof value === 'object' ? markupOf(value) : escaped(value)) + parts[index + 1]!
  })
  return { markup }
}

/** The lines of a text as separate lines, for `pre`. */
export function lines(text: string): Markup {
  return { markup: text.split('\n').map(escaped).join('\n') }
}

/** The tooltip of an element of a drawing. */
export function titled(text: string): Markup {
  return { markup: `<title>${escaped(text)}</title>` }
}

const indented = new Map<TemplateStringsArray, string[]>()

/** Removes the indent, which would be a third of the page of a large run. */
function withoutIndent(template: TemplateStringsArray): string[] {
  const known = indented.get(template)
  if (known) return known
  const parts = template.map((part) => part.replace(/>\s*\n\s*</g, '><').replace(/\n\s*/g, '\n'))
  indented.set(template, parts)
  return parts
}

/** Markup without escaping; only for the style and the script of sluice itself. */
export function verbatim(markup: string): Markup {
  return { markup }
}

/** JSON for a script element. The first `</script` ends the element, even within a string, so such characters are escaped. */
export function embeddedJson(value: unknown): Markup {
  // The line separators U+2028 and U+2029 end a line in a script, but not in JSON.
  const text = JSON.stringify(value).replace(/[<>&\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, codePoint)
  return { markup: text }
}

function markupOf(value: Markup | readonly Markup[]): string {
  return 'markup' in value ? value.markup : value.map(({ markup }) => markup).join('')
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Escapes HTML, and shows characters by their code that change the direction of text or are not allowed in HTML, such as NUL. */
function escaped(value: string | number | undefined): string {
  return value === undefined ? '' : inert(String(value)).replace(/[&<>"']/g, (character) => ENTITIES[character]!)
}

function codePoint(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
