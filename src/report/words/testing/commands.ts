import type { Command } from '../../../reasons/command.ts'
import { kubectl, resolve, resolveGone, RUN, type SamplesOf, WEB } from './some.ts'

type Commands = { [C in Command['command']]: Extract<Command, { command: C }> }

export const commands: SamplesOf<Commands> = {
  resolve: [resolve(), resolve('out'), resolveGone('in'), { ...resolveGone('in'), loadBalancers: ['edge', 'inner'] }],
  upgrade: [{ command: 'upgrade', namespace: 'shop', workloads: [WEB, 'daemonset/proxy'] }],
  undo: [
    { command: 'undo', namespace: 'shop', workloads: [WEB] },
    { command: 'undo', namespace: 'shop', workloads: [WEB], run: RUN },
  ],
  status: [
    { command: 'status', namespace: 'shop', workloads: [WEB] },
    { command: 'status', namespace: 'shop', workloads: [] },
  ],
  kubectl: [kubectl('describe', 'pod', 'web-0'), kubectl('patch', WEB, '--type', 'merge', '-p', '{"spec":{"paused":false}}')],
}
