/** Reads the `server` lines of one `upstream` block, or of a file that such a block includes. Everything else stays unchanged. */
import { parseAddress } from '../address.ts'
import type { Address } from '../contract.ts'
import { MARK, type Mark } from './mark.ts'
import { lineOf, type Token, tokensOf } from './tokens.ts'

export interface ServerLine {
  at: Address
  /** The words after the address as they are written: `weight=5`, `backup`. */
  words: Token[]
  /** The position after the address. */
  addressTo: number
  /** The position after the `;`. */
  to: number
  /** True if more of the file follows on the same line. */
  isFollowed: boolean
  /** The comment of sluice after the line. */
  mark: Mark | undefined
}

/** The error for a file that the adapter cannot use. A second sentence tells the solution. */
export class UpstreamProblem extends Error {
  override readonly name = 'UpstreamProblem'
}

const DEFAULT_PORT = 80

/** The server lines of a block. Without a block name: the lines outside of any block. */
export function serverLinesOf(text: string, upstream: string | undefined): ServerLine[] {
  let tokens: Token[]
  try {
    tokens = tokensOf(text)
  } catch (error) {
    throw new UpstreamProblem((error as Error).message, { cause: error })
  }
  const blocks = upstreamBlocks(text, tokens)
  const { open, close } = upstream === undefined ? { open: -1, close: tokens.length } : blockOf(text, tokens, blocks, upstream)
  return serverStatements(tokens, open + 1, close).flatMap((statement) => serverLine(text, statement) ?? [])
}

function blockOf(text: string, tokens: readonly Token[], blocks: readonly Block[], upstream: string): Block {
  const own = blocks.filter(({ name }) => name === upstream)
  const [block, second] = own
  if (block === undefined) {
    const names = [...new Set(blocks.map(({ name }) => name))].join(', ')
    throw new UpstreamProblem(`there is no upstream ${upstream}: ${names === '' ? 'it has none' : `it has ${names}`}`)
  }
  if (second !== undefined)
    throw new UpstreamProblem(
      `there are several upstream ${upstream}, in lines ${own.map((one) => lineOf(text, tokens[one.open]!.from)).join(' and ')}: ` +
        'move the one of the pods into a file of its own, and include that',
    )
  return block
}

interface Block {
  name: string
  /** The indexes of the braces. */
  open: number
  close: number
}

function upstreamBlocks(text: string, tokens: readonly Token[]): Block[] {
  const blocks: Block[] = []
  const open: { index: number; name: string | undefined }[] = []
  let words: Token[] = []
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'word') words.push(token)
    if (token.kind === '{') open.push({ index, name: words[0]?.text === 'upstream' ? words[1]?.text : undefined })
    if (token.kind === '}') {
      const block = open.pop()
      if (block === undefined) throw new UpstreamProblem(`the } of line ${lineOf(text, token.from)} ends nothing`)
      if (block.name !== undefined) blocks.push({ name: block.name, open: block.index, close: index })
    }
    if (token.kind !== 'word' && token.kind !== 'comment') words = []
  }
  const [unclosed] = open
  if (unclosed !== undefined) throw new UpstreamProblem(`the { of line ${lineOf(text, tokens[unclosed.index]!.from)} has no end`)
  return blocks
}

interface Statement {
  words: Token[]
  end: Token
  next: Token | undefined
}

/** The statements with the name `server`, without those in inner blocks. */
function serverStatements(tokens: readonly Token[], from: number, to: number): Statement[] {
  const statements: Statement[] = []
  let depth = 0
  let words: Token[] = []
  for (let index = from; index < to; index += 1) {
    const token = tokens[index]!
    if (token.kind === 'comment') continue
    if (token.kind === 'word') {
      words.push(token)
      continue
    }
    if (token.kind === ';' && depth === 0 && words[0]?.text === 'server')
      statements.push({ words, end: token, next: tokens[index + 1] })
    if (token.kind === '{') depth += 1
    if (token.kind === '}') depth -= 1
    words = []
  }
  return statements
}

/** The server of a statement. Undefined for a unix socket and for any address other than host and port, because pods have none of these. */
function serverLine(text: string, { words: [, address, ...words], end, next }: Statement): ServerLine | undefined {
  const at = address === undefined ? undefined : (parseAddress(address.text) ?? parseAddress(`${address.text}:${DEFAULT_PORT}`))
  if (at === undefined || address!.text.startsWith('unix:')) return undefined
  const isOnLine = next !== undefined && !text.slice(end.to, next.from).includes('\n')
  const comment = isOnLine && next.kind === 'comment' ? MARK.exec(next.text) : null
  return {
    at,
    words,
    addressTo: address!.to,
    to: end.to,
    isFollowed: isOnLine && next.kind !== 'comment',
    mark:
      comment === null || next === undefined
        ? undefined
        : { ...markOf(comment), from: next.from, to: next.from + comment[0].length },
  }
}

function markOf([, boot, ticks, split]: RegExpExecArray): Pick<Mark, 'since' | 'isSplit'> {
  return { since: boot === undefined ? undefined : { boot, ticks: Number(ticks) }, isSplit: split !== undefined }
}
