import type { PodFacts } from '../../../reasons/pod-facts.ts'
import { AT, IMAGE_NOT_PULLED, type SamplesOf } from './some.ts'

const { code: _, ...NOT_PULLED } = IMAGE_NOT_PULLED

export const podFacts: SamplesOf<PodFacts> = {
  'container-waiting': [NOT_PULLED, { container: 'app', waiting: 'InvalidImageName' }],
  'containers-not-ready': [{ containers: [{ name: 'app', waiting: 'CrashLoopBackOff' }, { name: 'log' }] }],
  'pod-not-ready': [{}],
  'readiness-gates-closed': [
    {
      gates: [
        { type: 'lb.example/in', status: 'missing' },
        { type: 'lb.example/out', status: 'False', message: 'target is not healthy' },
      ],
    },
  ],
  'node-silent': [{}, { node: 'node-1' }],
  'ready-condition-false': [{}],
  'ready-for-too-short': [{}],
  terminating: [
    { dueAt: AT, finalizers: [] },
    { dueAt: AT, finalizers: ['example.org/backup', 'example.org/audit'] },
  ],
  'endpoints-not-back': [{ slices: ['web-x7k2p'] }],
  'images-changed': [{}],
  'restart-unproven': [{}],
  'container-not-replaced': [{}, { silentNode: 'node-1' }],
  'kubelet-behind': [
    { generation: 3, observed: 2 },
    { generation: 3, observed: 2, node: 'node-1' },
    { generation: 3, observed: 2, node: 'node-1', silentNode: 'node-1' },
  ],
}
