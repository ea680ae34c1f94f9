/** The steps before a request, if the API needs them: find the active unit of a pair, and get a token of a session with it. */
import { AdapterError, type Call } from '../contract.ts'
import { parseDuration } from '../../src/config/duration.ts'
import { type Answer, parseJson, StatusError } from '../http-client/answer.ts'
import { type Client, withoutSlash } from '../http-client/client.ts'
import { compile, ExpressionError } from './expression.ts'
import type { HttpOptions } from './fields.ts'
import type { HttpRequest } from '../http-client/http-request.ts'
import { compileRequest, type RequestContext } from './request.ts'
import { readSecret } from '../credentials/secret.ts'

export interface Session {
  /** Sends a request like a Client, to the active unit and with the token of a session. */
  send: Client['send']
  /** The tokens. An answer may echo them. */
  secrets(): string[]
}

/** The time during which the active unit is not checked again. */
const ACTIVE_FOR_MS = 2000
/** The share of the lifetime of a token after which sluice gets the next one. */
const SPENT = 0.8
const UNAUTHORIZED = 401

interface Token {
  text: string
  takenAt: number
  isOver: boolean
}

export interface SessionOptions {
  component: string
  client: Client
  options: Pick<HttpOptions, 'url' | 'login' | 'failover'>
  context: RequestContext
}

export function createSession({ component, client, options, context }: SessionOptions): Session {
  const { login, failover } = options
  const bases = [options.url, ...(failover?.urls ?? [])].map(withoutSlash)
  const tokenFor = login === undefined ? undefined : createTokens({ component, client, login, context })
  const isActive = failover === undefined ? undefined : compile(failover.active, 'list', 'failover.active')
  const askForPart = failover && compileRequest(failover.request, 'nothing', 'failover.request', context)
  /** True if the API refused the token of the last change. If it refuses the next token too, the user lacks permission. */
  let wasRefused = false
  let active: { base: string; foundAt: number } | undefined

  /** Sends the request with its token. A read with an expired token is sent again with a new token. */
  async function sendTo(base: string, request: HttpRequest, call: Call, isWrite: boolean): Promise<Answer> {
    const endsAt = performance.now() + call.deadlineMs
    const left = (): Call => ({ ...call, deadlineMs: endsAt - performance.now() })
    if (tokenFor === undefined) return client.send(request, call, { isWrite, baseUrl: base })
    const startedAt = performance.now()
    const token = await tokenFor.get(base, left())
    try {
      const answer = await client.send(tokenFor.add(request, token), left(), { isWrite, baseUrl: base })
      if (isWrite) wasRefused = false
      return answer
    } catch (error) {
      if (!(error instanceof StatusError) || error.status !== UNAUTHORIZED || token.takenAt >= startedAt) throw error
      token.isOver = true
      if (!isWrite)
        return client.send(tokenFor.add(request, await tokenFor.get(base, left())), left(), { isWrite, baseUrl: base })
      if (wasRefused) throw error
      wasRefused = true
      throw new AdapterError(component, 'retryable', `the session is over: ${error.message}`, { cause: error })
    }
  }

  async function isActiveUnit(base: string, call: Call): Promise<boolean> {
    const request = askForPart!({})
    const answer = await sendTo(base, request, call, false)
    const body = parseJson(component, answer, request.secrets)
    const said = isActive!({ body, headers: answer.headers })
    if (typeof said === 'boolean') return said
    throw new ExpressionError(`failover.active gives ${JSON.stringify(said)}, which is neither true nor false`)
  }

  /** Finds the active unit. An unreachable unit does not matter if another unit is active. */
  async function findActive(call: Call): Promise<string> {
    const endsAt = performance.now() + call.deadlineMs
    const known = active?.base ?? bases[0]!
    const troubles: string[] = []
    for (const base of [known, ...bases.filter((other) => other !== known)]) {
      try {
        if (await isActiveUnit(base, { ...call, deadlineMs: endsAt - performance.now() })) return base
        troubles.push(`${base} is not active`)
      } catch (error) {
        if (!(error instanceof AdapterError) || error.kind === 'fatal') throw error
        troubles.push(error.message)
      }
    }
    throw new AdapterError(component, 'retryable', `no unit is active: ${troubles.join('; ')}`)
  }

  return {
    async send(request, call, { isWrite }) {
      if (request.baseUrl !== undefined || failover === undefined)
        return sendTo(request.baseUrl ?? bases[0]!, request, call, isWrite)
      const endsAt = performance.now() + call.deadlineMs
      // A change goes to the unit of the read right before it.
      if (active === undefined || (!isWrite && performance.now() - active.foundAt > ACTIVE_FOR_MS)) {
        const base = await findActive(call)
        active = { base, foundAt: performance.now() }
      }
      return sendTo(active.base, request, { ...call, deadlineMs: endsAt - performance.now() }, isWrite)
    },
    secrets: () => tokenFor?.texts() ?? [],
  }
}

interface Tokens {
  get(base: string, call: Call): Promise<Token>
  add(request: HttpRequest, token: Token): HttpRequest
  texts(): string[]
}

interface TokensOptions extends Omit<SessionOptions, 'options'> {
  login: NonNullable<HttpOptions['login']>
}

/** Makes one token for each unit, because a unit does not know the tokens of another unit. */
function createTokens({ component, client, login, context }: TokensOptions): Tokens {
  const begin = compileRequest(login.request, 'login', 'login.request', context)
  const tokenOf = compile(login.token, 'list', 'login.token')
  const lifetime = parseDuration(login.lifetime)
  const goodForMs = (lifetime.ok ? lifetime.ms : 0) * SPENT
  const tokens = new Map<string, Promise<Token>>()
  const texts: string[] = []

  async function logIn(base: string, call: Call): Promise<Token> {
    const secrets = Object.fromEntries(Object.entries(login.secrets).map(([name, source]) => [name, readSecret(source)]))
    const made = begin({ secrets })
    const request = { ...made, secrets: [...made.secrets, ...Object.values(secrets)] }
    const takenAt = performance.now()
    const answer = await client.send(request, call, { isWrite: false, baseUrl: base })
    const text = tokenOf({ body: bodyOf(answer), headers: answer.headers })
    if (typeof text !== 'string' || !/^[\x21-\x7e]+$/.test(text))
      throw new ExpressionError('login.token gives no text that can stand in a header')
    texts.push(text)
    return { text, takenAt, isOver: false }
  }

  /** The body of the login answer. Errors show nothing of it, because it contains the token. */
  function bodyOf({ text, asked }: Answer): unknown {
    try {
      return JSON.parse(text)
    } catch {
      throw new AdapterError(component, 'retryable', `${asked} answered with something that is not JSON`)
    }
  }

  async function get(base: string, call: Call): Promise<Token> {
    const asked = tokens.get(base)
    const known = await asked?.catch(() => undefined)
    if (known !== undefined && !known.isOver && performance.now() - known.takenAt < goodForMs) return known
    // Another call has requested the next token in the meantime.
    if (tokens.get(base) !== asked) return get(base, call)
    const next = logIn(base, call)
    tokens.set(base, next)
    return next
  }

  return {
    get,
    add(request, { text }) {
      const headers = { ...request.headers, [login.header]: `${login.prefix ?? ''}${text}` }
      return { ...request, headers, secrets: [...request.secrets, text] }
    },
    texts: () => [...texts],
  }
}
