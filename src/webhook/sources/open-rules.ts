import type { KeyObject } from 'node:crypto'
import type { KubeClient } from '../../kube/client.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import { parseRuleSet } from '../rules/parse-rule-set.ts'
import type { RuleSet } from '../rules/rule-set.ts'
import { type CacheSource, readCache, writeCache } from './cache-file.ts'
import type { CredentialFiles } from './credentials.ts'
import { createFlapWatch } from './flap-watch.ts'
import { followConfigMap } from './follow-config-map.ts'
import { followFile } from './follow-file.ts'
import { followUrl } from './follow-url.ts'
import { type Accepted, hashOf, judgeDocument } from './judge-document.ts'
import type { Follow, Look } from './look.ts'
import { identityOf, nameOf, type RulesFrom, RulesFromError } from './rules-from.ts'
import { isSameProblem, type RulesChange, type RulesProblem, type RulesSource, type RulesState } from './rules-source.ts'

export interface OpenRulesOptions {
  from: RulesFrom
  clock: Clock
  random: Random
  /** Reads the ConfigMap. Without it, the rules come from no ConfigMap. */
  client?: KubeClient
  /** The connection to a URL. */
  http?: CredentialFiles & { field?: string; timeoutMs?: number; wholeEveryMs?: number }
  /** The keys of which one has signed each document: readSignatureKeys. */
  signatureKeys?: readonly KeyObject[]
  /** The file that keeps the last accepted document over a restart. */
  cacheFile?: string
  /** The time between two looks. Default: 10 s for a URL, else 2 s. */
  everyMs?: number
  signal: AbortSignal
}

const URL_EVERY_MS = 10_000
const EVERY_MS = 2_000

/**
 * Opens the rules, and follows them until the signal. A document comes into force as a whole, or not at all.
 * @throws RulesFromError
 */
export function openRules(options: OpenRulesOptions): RulesSource {
  const { clock, signatureKeys: keys, cacheFile, signal } = options
  const cacheSource: CacheSource = {
    name: nameOf(options.from),
    digest: hashOf(Buffer.from(identityOf(options.from, options.http?.field))),
  }
  const follow = followOf(options)
  const parse = (text: string): RuleSet => parseRuleSet(text, nameOf(options.from))
  const settled = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => settled.resolve())
  const listeners = new Set<(change: RulesChange) => void>()
  let inForce: (Accepted & { from: 'source' | 'cache'; acceptedAt: number }) | undefined
  let confirmedAt = clock.now()
  /** The answer about the document that the source has shown last. */
  let shown: { hash: string; problem: RulesProblem | undefined } | undefined
  const flaps = createFlapWatch(() => clock.now())
  let sourceProblem: RulesProblem | undefined
  let cacheProblem: RulesProblem | undefined
  let told: RulesProblem | undefined
  /** The write of the cache under way, and the bytes that come after it. */
  let writing: Promise<void> | undefined
  let unwritten: Uint8Array | undefined

  const problem = (): RulesProblem | undefined => sourceProblem ?? flaps.problem() ?? cacheProblem

  function tell(change: RulesChange): void {
    for (const listener of listeners) listener(change)
  }

  function tellProblem(): void {
    const now = problem()
    const isTold = isSameProblem(now, told)
    told = now
    if (isTold) return
    if (now !== undefined) tell({ code: 'rules-problem', problem: now })
    else if (inForce !== undefined) tell({ code: 'rules-problem-over', version: inForce.rules.version })
  }

  function accept(accepted: Accepted, from: 'source' | 'cache'): void {
    const replaced = inForce?.rules.version
    const isNew = inForce?.hash !== accepted.hash
    // The rules in force stay the same object where the source shows what the cache held.
    inForce = isNew || inForce === undefined ? { ...accepted, from, acceptedAt: clock.wallNow() } : { ...inForce, from }
    if (!isNew) return
    tell({ code: 'rules-accepted', version: accepted.rules.version, from, ...(replaced === undefined ? {} : { replaced }) })
    flaps.note({ version: accepted.rules.version, hash: accepted.hash })
    if (from === 'source' && cacheFile !== undefined) {
      unwritten = accepted.bytes
      writing ??= writeLater(cacheFile)
    }
  }

  async function writeLater(file: string): Promise<void> {
    for (let bytes = unwritten; bytes !== undefined; bytes = unwritten) {
      unwritten = undefined
      try {
        await writeCache(file, cacheSource, bytes)
        cacheProblem = undefined
      } catch (error) {
        cacheProblem = { code: 'cache-unusable', said: (error as Error).message }
      }
      tellProblem()
    }
    writing = undefined
  }

  function takeDocument(bytes: Uint8Array): RulesProblem | undefined {
    const hash = hashOf(bytes)
    if (shown?.hash === hash) return shown.problem
    const judged = judgeDocument(bytes, { parse, keys, last: inForce })
    const isAccepted = 'rules' in judged
    shown = { hash, problem: isAccepted ? undefined : judged }
    if (isAccepted) accept(judged, 'source')
    return shown.problem
  }

  function problemIn(look: Look): RulesProblem | undefined {
    switch (look.is) {
      case 'document':
        if (look.isEtagWrong === true) tell({ code: 'rules-etag-wrong' })
        return takeDocument(look.bytes)
      case 'unchanged':
        return shown?.problem
      case 'too-large':
        return { code: 'document-too-large', limitBytes: look.limitBytes }
      case 'missing':
        return { code: 'document-missing', sinceAt: sinceAt('document-missing'), lacks: look.lacks }
      case 'away':
        return { code: 'source-away', sinceAt: sinceAt('source-away'), fault: look.fault }
    }
  }

  function sinceAt(code: 'document-missing' | 'source-away'): number {
    return sourceProblem?.code === code ? sourceProblem.sinceAt : clock.wallNow()
  }

  function take(look: Look): void {
    sourceProblem = problemIn(look)
    if (sourceProblem === undefined) confirmedAt = clock.now()
    tellProblem()
    settled.resolve()
  }

  async function useCache(file: string): Promise<void> {
    try {
      const cached = await readCache(file, cacheSource)
      if (cached === undefined) return
      if ('foreign' in cached) cacheProblem = { code: 'cache-foreign', of: cached.of }
      else {
        const judged = judgeDocument(cached.bytes, { parse, keys, last: undefined })
        if ('rules' in judged) accept(judged, 'cache')
        else cacheProblem = { code: 'cache-refused', because: judged }
      }
    } catch (error) {
      cacheProblem = { code: 'cache-unusable', said: (error as Error).message }
    }
    tellProblem()
  }

  async function run(): Promise<void> {
    if (cacheFile !== undefined) await useCache(cacheFile)
    if (!signal.aborted) await follow(take, signal)
    await writing
  }

  if (signal.aborted) settled.resolve()
  const ended = run()
  return {
    current: () => inForce?.rules,
    state(): RulesState {
      const found = problem()
      return {
        ...(inForce === undefined ? {} : { rules: inForce.rules, from: inForce.from, acceptedAt: inForce.acceptedAt }),
        unconfirmedMs: clock.now() - confirmedAt,
        ...(found === undefined ? {} : { problem: found }),
      }
    },
    problem,
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    settled: settled.promise,
    ended,
  }
}

function followOf({ from, clock, random, client, http = {}, signatureKeys, everyMs }: OpenRulesOptions): Follow {
  switch (from.is) {
    case 'file':
      return followFile({ path: from.path, clock, everyMs: everyMs ?? EVERY_MS })
    case 'config-map':
      if (client === undefined) throw new RulesFromError('A ConfigMap of rules needs a cluster')
      return followConfigMap({ ...from, client, clock, random, everyMs: everyMs ?? EVERY_MS })
    case 'url':
      checkConnection(from.url, http, signatureKeys !== undefined)
      return followUrl({ ...http, url: from.url, clock, random, everyMs: everyMs ?? URL_EVERY_MS })
  }
}

/** Plain HTTP to another host can be read and answered by all that is on the way. A signature protects the document, and no secret. */
function checkConnection(
  text: string,
  { bearerFile, basicFile, field }: CredentialFiles & { field?: string },
  isSigned: boolean,
) {
  const url = new URL(text)
  const hasSecret = bearerFile !== undefined || basicFile !== undefined
  if (bearerFile !== undefined && basicFile !== undefined)
    throw new RulesFromError('A request has a token or a password, not both')
  if (field !== undefined && !/^(\/([^~/]|~[01])*)+$/.test(field))
    throw new RulesFromError(`${field} is no JSON pointer: write it as /data/content`)
  if (url.protocol === 'https:' || isLoopback(url.hostname)) return
  if (hasSecret) throw new RulesFromError('A token or a password does not go to another host over plain HTTP: write https')
  if (!isSigned)
    throw new RulesFromError('Rules come from another host over plain HTTP only with a signature: write https, or name the key')
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}
