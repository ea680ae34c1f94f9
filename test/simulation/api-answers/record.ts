/* One request after another to an API server, real or embedded, and what of the answers both must have in common. */

export interface Question {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With `watch=1`, also `timeoutSeconds`: the answer is then its lines. */
  path: string
  /** Of the body; that of JSON where left out. */
  type?: string
  /** Sent as it is where it is a string. */
  body?: unknown
  /** The words of the refusal are those of a parser written in Go. */
  ownWords?: boolean
  /** Asked by a user without any right. */
  withoutRights?: boolean
}

// What comes back is looked at, never relied on.
// oxlint-disable-next-line no-explicit-any
export type Body = any

/** What a success is known by. */
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

/** By key: the real one sorts maps, and the embedded one leaves them as they came. */
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
  // The real one validates some things twice.
  const once = causes && [...new Map(causes.map((cause: Body) => [JSON.stringify(cause), cause])).values()]
  return steadily({ ...details, causes: once })
}

function steadily(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_key, at: unknown) => (typeof at === 'string' ? steady(at) : at))
}

/** Without what differs from run to run, and without the specs that a refused pod update is printed with. */
function steady(message: string | undefined): string | undefined {
  return (
    message
      ?.split('\n', 1)[0]!
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UID')
      // From here on in the words of a library.
      .replace(
        /(json parse error|error decoding patch|continue key is not valid|cannot be handled as a [A-Za-z]+): .*/,
        '$1: ...',
      )
      .replaceAll(/((?:resource version|precondition|object meta|current): )[0-9]+/g, '$1N')
      .replaceAll(/\([0-9]+\)/g, '(N)')
  )
}
