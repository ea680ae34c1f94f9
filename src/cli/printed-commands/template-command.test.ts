import { idNamed } from '../../workloads/kinds/testing/id-named.ts'
import { expect, test } from 'vitest'
import { templateCommands } from './template-command.ts'

test('each workload whose template a run changes, once, where the abort was sent', () => {
  const workloads = ['StatefulSet', 'DaemonSet', 'Deployment', 'Pod', 'StatefulSet'].map((kind) => idNamed(kind, 'web'))
  const flags = { namespace: 'shop', context: 'a b' }
  expect(
    templateCommands(workloads, flags, { program: 'kubectl sluice' }, { SLUICE_CONFIG: 'c' }).map(({ shell }) => shell),
  ).toEqual([
    "kubectl sluice upgrade statefulset/web --namespace shop --context 'a b' --config c",
    "kubectl sluice upgrade daemonset/web --namespace shop --context 'a b' --config c",
  ])
})
