import { delimiter } from 'node:path'
import { expect, test } from 'vitest'
import { needsOperatorAdvice } from '../../engine/advice.ts'
import type { Command } from '../../reasons/command.ts'
import { adviceLines } from '../../report/words/advice.ts'
import type { Writing } from '../../report/words/writing.ts'
import { writingFor } from './writing.ts'

type Flags = Parameters<typeof writingFor>[0]['flags']

function writing(flags: Flags, { program = 'sluice', env = {} }: { program?: string; env?: NodeJS.ProcessEnv } = {}): Writing {
  return writingFor({ flags, invocation: { program } }, env)
}

const resolve: Command = { command: 'resolve', pod: 'web-0', namespace: 'shop', traffic: 'in' }
const kubectl: Command = { command: 'kubectl', namespace: 'shop', args: ['get', 'lease', 'web'] }

test('a command that is to be pasted reaches the cluster that the run was about', () => {
  const advice = needsOperatorAdvice({ pod: { name: 'web-0', namespace: 'shop' }, gone: false, targets: [], former: [] })
  const linesOf = (write: Writing): string[] =>
    advice.flatMap((one) => adviceLines(one, write)).filter((line) => line.startsWith('  '))
  const flags = { namespace: 'shop', context: 'prod', kubeconfig: 'my files/$&', asGroup: ['ops'], requestTimeout: '5s' }
  const way = "--context prod --kubeconfig 'my files/$&' --as-group ops"
  expect(linesOf(writing(flags, { program: 'kubectl sluice' }))).toEqual([
    `  kubectl ${way} -n shop describe pod web-0`,
    `  kubectl sluice resolve ${way} pod/web-0 -n shop --traffic out   # it gets no requests: the run goes on from there`,
    `  kubectl sluice resolve ${way} pod/web-0 -n shop --traffic in    # it is in rotation as it was: nothing is left to do for it`,
  ])
})

test('in the middle of a sentence too; and without more words where nothing is to be added', () => {
  const reason = {
    code: 'half-done-not-in-config',
    pod: 'web-0',
    place: { loadBalancer: 'edge' },
    resolve,
  } as const
  const ending = 'once it is in rotation everywhere by your own hand,'
  expect(writing({ context: 'c' }).reason(reason)).toContain(
    `${ending} sluice resolve --context c pod/web-0 -n shop --traffic in`,
  )
  expect(writing({ namespace: 'shop' }).reason(reason)).toContain(`${ending} sluice resolve pod/web-0 -n shop --traffic in`)
})

test('a kubeconfig that the environment named is written out, where it is one file', () => {
  const written = (env: NodeJS.ProcessEnv, flags: Flags = {}): string => writing(flags, { env }).command(kubectl)
  expect(written({ KUBECONFIG: 'prod.conf' })).toBe('kubectl --kubeconfig prod.conf -n shop get lease web')
  expect(written({ KUBECONFIG: `${delimiter}prod.conf` })).toBe(written({ KUBECONFIG: 'prod.conf' }))
  expect(written({ KUBECONFIG: 'prod.conf' }, { kubeconfig: 'mine' })).toBe(written({}, { kubeconfig: 'mine' }))
  expect(written({ KUBECONFIG: ['prod.conf', 'more.conf'].join(delimiter) })).toBe('kubectl -n shop get lease web')
})

test('one that runs has the config too, by its flag or by the environment; one that only says something has none', () => {
  const upgrade: Command = { command: 'upgrade', workloads: ['daemonset/a.b', 'statefulset/web'], namespace: 'shop' }
  const undo: Command = { command: 'undo', workloads: ['statefulset/web'], run: 'r1', namespace: 'shop' }
  const write = writing({ context: 'prod', config: 'my.yaml' }, { program: 'kubectl sluice' })
  expect([undo, upgrade, resolve].map((one) => write.command(one))).toEqual([
    'kubectl sluice undo statefulset/web --run r1 -n shop --context prod --config my.yaml',
    'kubectl sluice upgrade daemonset/a.b statefulset/web -n shop --context prod --config my.yaml',
    'kubectl sluice resolve --context prod pod/web-0 -n shop --traffic in',
  ])
  expect(writing({}, { env: { SLUICE_CONFIG: 'c' } }).command(upgrade)).toContain(' -n shop --config c')
})

test('every word of a command is one word for a shell', () => {
  const args = ['annotate', 'pod', 'web-0', `a=it's "here"`, 'b=\u001b[2J']
  expect(writing({ context: 'my cluster' }).command({ ...kubectl, args })).toBe(
    String.raw`kubectl --context 'my cluster' -n shop annotate pod web-0 'a=it'\''s "here"' $'b=\033[2J'`,
  )
})
