import { daemonSet } from './daemon-set.ts'
import { deployment } from './deployment.ts'
import { createKinds } from './kinds.ts'
import { pod } from './pod.ts'
import { statefulSet } from './stateful-set.ts'

/** The built-in kinds, in the order of listings. */
export const KINDS = createKinds([pod, statefulSet, daemonSet, deployment])
