import { daemonSet } from './daemon-set.ts'
import { deployment } from './deployment.ts'
import { createKinds } from './kinds.ts'
import { pod } from './pod.ts'
import { statefulSet } from './stateful-set.ts'

/** The kinds that sluice knows by itself, in the order in which it lists them. */
export const KINDS = createKinds([pod, statefulSet, daemonSet, deployment])
