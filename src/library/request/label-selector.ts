import { quote } from './quote.ts'

const TOKEN = /[ \t\r\n]+|==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+/g
const SYMBOL = /^(?:==|!=|[=!(),<>])$/
const PREFIX = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/
const WORD = /^(?=.{1,63}$)[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/

/**
 * The names of the labels in a label selector, or the reason why the API server would refuse it. The API server's grammar (apimachinery,
 * pkg/labels) also accepts `a in (,b)`, `a notin ()`, `a!=`, and `in` as the name of a label.
 */
export function readSelector(text: string): { labels: string[] } | { problem: string } {
  const tokens = (text.match(TOKEN) ?? []).filter((token) => token.trim() !== '')
  const labels: string[] = []
  let at = 0
  const isWord = (token: string | undefined): token is string => token !== undefined && !SYMBOL.test(token)
  const expected = (what: string): string => {
    const token = tokens[at]
    return `${token === undefined ? 'it ends' : `${quote(token)} stands`} where ${what} must be`
  }

  function requirement(): string | undefined {
    const isNot = tokens[at] === '!'
    if (isNot) at += 1
    const key = tokens[at]
    if (!isWord(key)) return expected('the name of a label')
    if (!isLabelName(key)) return `${quote(key)} cannot be the name of a label`
    labels.push(key)
    at += 1
    if (isNot || tokens[at] === undefined || tokens[at] === ',') return undefined
    const operator = tokens[at]!
    if (operator === 'in' || operator === 'notin') {
      at += 1
      return set()
    }
    if (!['=', '==', '!=', '<', '>'].includes(operator)) return expected('=, !=, in, notin or a comma')
    at += 1
    const value = isWord(tokens[at]) ? tokens[at++]! : ''
    if (operator === '<' || operator === '>')
      return /^\d+$/.test(value) ? undefined : `${operator} compares with a whole number, and not with ${quote(value)}`
    return valueProblem(value)
  }

  function set(): string | undefined {
    if (tokens[at] !== '(') return expected('"("')
    for (at += 1; tokens[at] !== ')'; at += 1) {
      const token = tokens[at]
      if (token === ',') continue
      if (isWord(tokens[at - 1])) return expected('a comma or ")"')
      if (!isWord(token)) return expected('a value or ")"')
      const problem = valueProblem(token)
      if (problem !== undefined) return problem
    }
    at += 1
    return undefined
  }

  for (;;) {
    const problem = requirement()
    if (problem !== undefined) return { problem }
    if (at === tokens.length) return { labels }
    if (tokens[at] !== ',') return { problem: expected('a comma') }
    at += 1
  }
}

function isLabelName(text: string): boolean {
  const [name = '', prefix, ...more] = text.split('/').toReversed()
  return more.length === 0 && WORD.test(name) && (prefix === undefined || PREFIX.test(prefix))
}

function valueProblem(text: string): string | undefined {
  return text === '' || WORD.test(text) ? undefined : `${quote(text)} cannot be the value of a label`
}
