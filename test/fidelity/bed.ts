import type { KubeObject } from '../cluster/kube-api.ts'

/**
 * A cluster that a scenario is played on, the real one or the embedded one, in a namespace of its own. Everything that
 * the API shows of it is recorded.
 */
export interface Bed {
  readonly namespace: string
  apply(...objects: KubeObject[]): Promise<void>
  /** A JSON Patch. */
  patch(kind: string, name: string, operations: JsonPatch, subresource?: 'status'): Promise<KubeObject>
  get(kind: string, name: string): Promise<KubeObject>
  list(kind: string): Promise<KubeObject[]>
  /** With `force` the pod leaves the API at once. */
  remove(kind: string, name: string, options?: { force?: boolean }): Promise<void>
  /** A container's process is killed. */
  crash(pod: string, container: string): Promise<void>
  /** What holds the pod's network is killed. */
  killSandbox(pod: string): Promise<void>
  readonly kubelet: { pause(): Promise<void>; resume(): Promise<void>; restart(): Promise<void> }
  nodeIsReady(): Promise<boolean>
  /** Waits for a state of one object; an absent one is `undefined`. */
  until(kind: string, name: string, condition: (object: KubeObject) => boolean): Promise<void>
  /** Lets time go by, in which what was begun goes on. */
  pass(ms: number): Promise<void>
  /** Forgets what was recorded so far: what follows begins with the present state. */
  begin(): Promise<void>
}

export type JsonPatch = { op: 'add' | 'replace' | 'remove' | 'test'; path: string; value?: unknown }[]

export interface Scenario {
  /** Also its golden file's. */
  name: string
  /** Stops the kubelet, and so needs the cluster alone. */
  alone?: true
  play(bed: Bed): Promise<void>
}
