/** Reads a `server` line, and makes the edits that change it. */
import type { Address, Json } from '../contract.ts'
import type { Entry } from '../define-adapter.ts'
import { type BootTime, formatMark, type Mark } from './mark.ts'
import type { ServerLine } from './upstream.ts'

export type OutWord = 'down' | 'drain'

type State = Entry['state']

export interface Server {
  at: Address
  state: State
  /** The written state. It differs from `state` until nginx has loaded the line. */
  becomes: State
  /** The words without the word of sluice. A restore puts them back. */
  prior: string[]
  weight: number
  line: ServerLine
}

/** A change of the text. Each edit moves later offsets, so all edits must be applied together. */
export interface Edit {
  from: number
  to: number
  text: string
}

export function isOutWord(word: string): word is OutWord {
  return word === 'down' || word === 'drain'
}

/**
 * The server of a line. A word that takes a server out belongs to an operator, unless the line has the mark and exactly one such word.
 * `oldestWorker` is the start time of the oldest worker that accepts requests.
 */
export function serverOf(line: ServerLine, oldestWorker: BootTime): Server {
  const words = line.words.map(({ text }) => text)
  const out = words.filter(isOutWord).length
  const becomes: State = out === 0 ? 'in' : line.mark !== undefined && out === 1 ? 'draining' : 'out'
  const isLoaded = line.mark === undefined || hasLoaded(oldestWorker, line.mark, becomes)
  const former: State = becomes === 'in' ? 'draining' : 'in'
  const prior = becomes === 'draining' ? words.filter((word) => !isOutWord(word)) : words
  const weight = words.map((word) => /^weight=(\d+)$/.exec(word)?.[1]).find((given) => given !== undefined)
  return {
    at: line.at,
    state: isLoaded || becomes === 'out' ? becomes : former,
    becomes,
    prior,
    weight: Number(weight ?? 1),
    line,
  }
}

/**
 * Whether nginx has loaded the line. A mark of another boot comes from before a restart of the host, or from another host with a copy of
 * the file, so a drain with such a mark does not count as loaded.
 */
function hasLoaded(oldestWorker: BootTime, { since }: Mark, becomes: State): boolean {
  if (since === undefined) return true
  return since.boot === oldestWorker.boot ? oldestWorker.ticks > since.ticks : becomes !== 'draining'
}

/** The edits of a drain. Empty if the server is drained already. */
export function drainEdits({ line, state, becomes, prior }: Server, word: OutWord, since: BootTime): Edit[] {
  if (state === 'draining' && becomes === 'draining') return []
  return outEdits(line, prior, word, since)
}

function outEdits(line: ServerLine, prior: readonly string[], word: OutWord, since: BootTime): Edit[] {
  const { mark } = line
  const split = mark?.isSplit ?? line.isFollowed
  return [
    ...wordEdits(line, [...prior, word]),
    ...unmarkEdits(line),
    { from: line.to, to: line.to, text: formatMark(since, split) },
  ]
}

/** The edits of a restore. Empty if the server is in its former state already. The mark stays until nginx has loaded the line. */
export function restoreEdits(
  server: Server,
  former: { state: State; prior: readonly string[] },
  word: OutWord,
  since: BootTime,
): Edit[] {
  const { line, state, becomes, prior } = server
  const isSame = prior.length === former.prior.length && prior.every((one, index) => one === former.prior[index])
  if (state === former.state && becomes === former.state && isSame) return []
  if (former.state === 'draining') return outEdits(line, former.prior, word, since)
  const split = line.mark?.isSplit ?? line.isFollowed
  const mark = { from: line.to, to: line.to, text: formatMark(since, split) }
  return [...wordEdits(line, former.prior), ...unmarkEdits(line), ...(former.state === 'in' ? [mark] : [])]
}

/** The edits that remove the mark of a restored line. */
export function settleEdits({ line, state, becomes }: Server): Edit[] {
  return state === 'in' && becomes === 'in' ? unmarkEdits(line) : []
}

/** The edits that change the words of a line. If only one word was added or removed, the other bytes stay unchanged. */
function wordEdits({ words, addressTo }: ServerLine, wanted: readonly string[]): Edit[] {
  const own = words.map(({ text }) => text)
  const lastTo = words.at(-1)?.to ?? addressTo
  if (wanted.length === own.length && wanted.every((word, index) => word === own[index])) return []
  if (wanted.length === own.length + 1 && own.every((word, index) => word === wanted[index]))
    return [{ from: lastTo, to: lastTo, text: ` ${wanted.at(-1)}` }]
  const removed = own.findIndex((word) => isOutWord(word))
  if (removed !== -1 && own.toSpliced(removed, 1).join(' ') === wanted.join(' ') && wanted.length === own.length - 1) {
    const { from, to } = words[removed]!
    return [{ from: from - 1, to, text: '' }]
  }
  return [{ from: addressTo, to: lastTo, text: wanted.map((word) => ` ${quoted(word)}`).join('') }]
}

/** The edit that removes the mark with the space before it, and with the line end that the mark added. */
function unmarkEdits({ mark, to }: ServerLine): Edit[] {
  if (mark === undefined) return []
  return [{ from: to, to: mark.isSplit ? mark.to + 1 : mark.to, text: '' }]
}

function quoted(word: string): string {
  return /^[^\s;{}"'\\#]+$/.test(word) ? word : `"${word.replaceAll(/["\\]/g, '\\$&')}"`
}

export function applyEdits(text: string, edits: readonly Edit[]): string {
  // For two edits at one place, the one that removes text comes first.
  const ordered = [...edits].sort((a, b) => b.from - a.from || b.to - a.to)
  return ordered.reduce((changed, { from, to, text: put }) => changed.slice(0, from) + put + changed.slice(to), text)
}

/** Undefined if the prior state is not from this adapter. */
export function parsePrior(prior: Json): string[] | undefined {
  return Array.isArray(prior) && prior.every((word) => typeof word === 'string') ? prior : undefined
}
