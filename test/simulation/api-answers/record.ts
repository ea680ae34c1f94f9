/* Sends requests to an API server, real or embedded, and records the parts of the answers that both must have in common. */

export interface Question {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path. With `watch=1`, it also has `timeoutSeconds`, and the answer is the lines of the watch. */
  path: string
  /** The content type of the body; JSON where left out. */
  type?: string
  /** The body. A string is sent as it is. */
  body?: unknown
  /** True where the refusal has the words of a parser written in Go. */
  ownWords?: boolean
  /** True where a user without any right asks. */
  withoutRights?: boolean
}

// Tests only look at the body and do not rely on its type.
// oxlint-disable-next-line no-explicit-any
export type Body = any

/** Returns the recorded part of a successful answer. */
export type Show = (body: Body) => unknown

export type Ask = (name: string, question: Question, show?: Show) => Promise<Body>

export interface RawAnswer {
  status: number
  text: string
}

export type Answers = Record<string, unknown>

export interface Recorder {
  ask: Ask
  answers: Answers
}

export function createRecorder(send: (question: Question) => Promise<RawAnswer>): Recorder {
  const answers: Answers = {}
  return {
    answers,
    async ask(name, question, show = () => undefined) {
      if (name in answers) throw new Error(`asked twice: ${name}`)
      const { status, text } = await send(question)
      if (/[?&]watch=/.test(question.path) && status === 200) {
        const lines = text.split('\n').filter((line) => line !== '')
        answers[name] = sorted({ status, lines: lines.map((line) => watchLine(JSON.parse(line), show)) })
        return undefined
      }
      const body = parsed(text)
      const { ownWords = false } = question
      answers[name] = sorted({ status, ...said(body, show), ...(ownWords ? { message: undefined } : {}) })
      return body
    },
  }
}

/** Sorts maps by key: the real server sorts them, and the embedded one keeps their order. */
function sorted(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_key, at: Body) =>
    typeof at === 'object' && at !== null && !Array.isArray(at)
      ? Object.fromEntries(Object.entries(at).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : at,
  )
}

function parsed(text: string): Body {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function watchLine({ type, object }: Body, show: Show): unknown {
  return { type, ...said(object, show) }
}

function said(body: Body, show: Show): object {
  if (typeof body === 'string') return { text: body.trim() }
  if (body.kind !== 'Status') return defined({ kind: body.kind, shown: show(body) })
  const { reason, message, details } = body
  return defined({
    kind: 'Status',
    reason,
    message: steady(message),
    details: details === undefined ? undefined : withSteady(details),
  })
}

function defined(object: Record<string, unknown>): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))
}

function withSteady({ causes, ...details }: Body): unknown {
  // The real server validates some fields twice.
  const once = causes && [...new Map(causes.map((cause: Body) => [JSON.stringify(cause), cause])).values()]
  return steadily({ ...details, causes: once })
}

function steadily(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_key, at: unknown) => (typeof at === 'string' ? steady(at) : at))
}

/** Removes values that differ from run to run, and the specs in the message about a refused pod update. */
function steady(message: string | undefined): string | undefined {
  return (
    message
      ?.split('\n', 1)[0]!
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UID')
      // The rest of these messages is in the words of a library.
      .replace(
        /(json parse error|error decoding patch|continue key is not valid|cannot be handled as a [A-Za-z]+): .*/,
        '$1: ...',
      )
      .replaceAll(/((?:resource version|precondition|object meta|current): )[0-9]+/g, '$1N')
      .replaceAll(/\([0-9]+\)/g, '(N)')
  )
}
