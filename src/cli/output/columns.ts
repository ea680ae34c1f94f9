import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'

const segmenter = new Intl.Segmenter()

/** Cuts text to so many columns of the terminal, between characters as they are displayed. Only for text without colour. */
export function truncate(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text
  if (columns < 1) return ''
  let kept = ''
  let width = 0
  for (const { segment } of segmenter.segment(text)) {
    width += stringWidth(segment)
    if (width > columns - 1) break
    kept += segment
  }
  return `${kept}…`
}

/** Breaks text into lines of at most so many columns, between words where possible. */
export function wrap(text: string, columns: number): string[] {
  return wrapAnsi(text, Math.max(1, columns), { hard: true }).split('\n')
}

/** Pads text on the right to so many columns. Colour codes have no width. */
export function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - stringWidth(text)))
}

export interface TableOptions {
  /** The text before each line. */
  indent?: string
}

/** Aligns rows in columns, each as wide as its widest cell. The last cell has no trailing blanks. */
export function table(rows: readonly (readonly string[])[], { indent = '' }: TableOptions = {}): string[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, stringWidth(cell))
  }
  return rows.map((row) => (indent + row.map((cell, index) => pad(cell, widths[index]!)).join('  ')).trimEnd())
}
