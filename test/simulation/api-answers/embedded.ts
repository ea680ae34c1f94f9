import { createApiServer } from '../../../sim/api-server/api-server.ts'
import { everybody } from '../../../sim/api-server/rights.ts'
import { createVirtualClock } from '../../../src/kube/testing/virtual-clock.ts'
import { askAll } from './questions.ts'
import { type Answers, createRecorder, type Question, type RawAnswer } from './record.ts'

/** Returns the answers of the embedded API server. */
export async function embeddedAnswers(): Promise<Answers> {
  const clock = createVirtualClock()
  let seed = 1
  const server = createApiServer({ clock, random: { next: () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647 } })

  async function send({ method, path, type = 'application/json', body, withoutRights = false }: Question): Promise<RawAnswer> {
    const by = withoutRights ? 'tester' : 'admin'
    server.authorize(withoutRights ? (_by, { group }) => group === 'authorization.k8s.io' : everybody)
    const request = {
      method,
      path,
      headers: body === undefined ? {} : { 'content-type': type },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    }
    if (!/[?&]watch=/.test(path)) return server.handle(request, by)
    const lines: string[] = []
    let ended = false
    const end = () => (ended = true)
    const watching = server.watch(request, { line: (text) => lines.push(text), end }, by)
    if (watching.kind === 'refused') return watching.answer
    if (!ended) await clock.runUntil(() => ended)
    return { status: 200, text: lines.join('\n') }
  }

  const { ask, answers } = createRecorder(send)
  await askAll(ask, () => Promise.resolve(server.compact()))
  return answers
}
