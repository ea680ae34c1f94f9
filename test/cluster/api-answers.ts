import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Agent, fetch } from 'undici'
import { askAll, NAMESPACE } from '../simulation/api-answers/questions.ts'
import { type Answers, createRecorder, type Question, type RawAnswer } from '../simulation/api-answers/record.ts'
import type { Cluster } from './cluster.ts'

/** Returns the answers of the real API server to the questions that the embedded one is asked too. */
export async function realAnswers(cluster: Cluster): Promise<Answers> {
  const { info } = cluster
  const agent = new Agent({ connect: { ca: readFileSync(join(info.dir, 'certs', 'ca.crt'), 'utf8') } })
  const tokenOf = (user: string) => info.identities.find((identity) => identity.user === user)!.token

  async function send({ method, path, type = 'application/json', body, withoutRights = false }: Question): Promise<RawAnswer> {
    const answer = await fetch(`https://127.0.0.1:${info.apiPort}${path}`, {
      method,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${tokenOf(withoutRights ? 'tester' : 'admin')}`,
        ...(body === undefined ? {} : { 'content-type': type }),
      },
      dispatcher: agent,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return { status: answer.status, text: await answer.text() }
  }

  /** Compacts etcd, and clears the API server's memory of the last writes. */
  async function forgetThePast(): Promise<void> {
    const etcd = await cluster.forward('127.0.0.1:2379')
    const call = async (path: string, body: object): Promise<unknown> => {
      const answer = await fetch(`http://${etcd.address}${path}`, { method: 'POST', body: JSON.stringify(body) })
      return answer.json()
    }
    try {
      const { header } = (await call('/v3/kv/range', { key: 'AA==' })) as { header: { revision: string } }
      await call('/v3/kv/compaction', { revision: header.revision, physical: true })
    } finally {
      await etcd.close()
    }
    await cluster.apiServer.restart()
  }

  const { ask, answers } = createRecorder(send)
  try {
    await askAll(ask, forgetThePast)
  } finally {
    await cluster.api.delete('Namespace', NAMESPACE)
    await agent.close()
  }
  return answers
}
