/** What a `server` line says, and the edits that change it. */
import type { Address, Json } from '../contract.ts'
import type { Entry } from '../define-adapter.ts'
import { type BootTime, formatMark, type Mark } from './mark.ts'
import type { ServerLine } from './upstream.ts'

export type OutWord = 'down' | 'drain'

type State = Entry['state']

export interface Server {
  at: Address
  state: State
  /** Another one than `state` where a line is written and not loaded. */
  becomes: State
  /** The words without that of sluice: what a restore puts back. */
  prior: string[]
  weight: number
  line: ServerLine
}

/** In the text, which has other offsets after each of them: apply all of them at once. */
export interface Edit {
  from: number
  to: number
  text: string
}

export function isOutWord(word: string): word is OutWord {
  return word === 'down' || word === 'drain'
}

/**
 * A word that takes a server out is an operator's, unless the line has the mark and one such word. `oldestWorker`: when the oldest worker
 * that takes requests has started.
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
 * A mark of another boot is of this host before it was started anew, or of a host from which the file was copied: nobody knows whether
 * a drain is in effect.
 */
function hasLoaded(oldestWorker: BootTime, { since }: Mark, becomes: State): boolean {
  if (since === undefined) return true
  return since.boot === oldestWorker.boot ? oldestWorker.ticks > since.ticks : becomes !== 'draining'
}

/** What takes it out, as of now; nothing where it is out. */
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

/** What puts it back as it was; nothing where it is so. The mark stays until nginx has loaded the line. */
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

/** Takes the mark of a restored line away. */
export function settleEdits({ line, state, becomes }: Server): Edit[] {
  return state === 'in' && becomes === 'in' ? unmarkEdits(line) : []
}

/** A word is added or taken away byte by byte, as long as it is the only difference. */
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

/** With the space before it, and with the end of the line that it has made. */
function unmarkEdits({ mark, to }: ServerLine): Edit[] {
  if (mark === undefined) return []
  return [{ from: to, to: mark.isSplit ? mark.to + 1 : mark.to, text: '' }]
}

function quoted(word: string): string {
  return /^[^\s;{}"'\\#]+$/.test(word) ? word : `"${word.replaceAll(/["\\]/g, '\\$&')}"`
}

export function applyEdits(text: string, edits: readonly Edit[]): string {
  // Of two at one place, the one that takes away comes first.
  const ordered = [...edits].sort((a, b) => b.from - a.from || b.to - a.to)
  return ordered.reduce((changed, { from, to, text: put }) => changed.slice(0, from) + put + changed.slice(to), text)
}

/** Undefined where it is none of this adapter. */
export function parsePrior(prior: Json): string[] | undefined {
  return Array.isArray(prior) && prior.every((word) => typeof word === 'string') ? prior : undefined
}
