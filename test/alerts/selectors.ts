/** A metric as a query names it, with the labels that it matches on. */
export interface Selector {
  metric: string
  matchers: { label: string; operator: string; value: string }[]
}

const WORDS = new Set('and or unless bool offset'.split(' '))
const MODIFIERS = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g
const NAME = /(?<![\w$:.])([a-zA-Z_:][\w:]*)(?![\w:]|\s*\()\s*(?:\{([^}]*)\})?/g
const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g

/** The metrics of a query in PromQL. */
export function selectors(query: string): Selector[] {
  const withoutRanges = query.replace(/\[[^\]]*\]/g, '').replace(MODIFIERS, '')
  return [...withoutRanges.matchAll(NAME)]
    .filter(([, name]) => !WORDS.has(name!))
    .map(([, metric, matchers = '']) => ({
      metric: metric!,
      matchers: [...matchers.matchAll(MATCHER)].map(([, label, operator, value]) => ({
        label: label!,
        operator: operator!,
        value: value!,
      })),
    }))
}

/** The labels that a query groups or joins by. */
export function groupedBy(query: string): string[] {
  return [...query.matchAll(MODIFIERS)].flatMap(([text]) =>
    [...text.replace(/^\w+/, '').matchAll(/\w+/g)].map(([label]) => label),
  )
}
