/** A load balancer in front of the pods of a bed, with the commands that the product has received from all processes. */
export interface Balancer {
  /** The entries of `loadBalancers` in a config. */
  readonly loadBalancers: readonly object[]
  /** Returns for each pod whether it was out, from the beginning on, without repetitions. Several products each have a history. */
  history(): Outs
  /** Returns the present settings, in a form in which equal settings are equal. */
  settings(): Promise<unknown>
  stop(): Promise<void>
}

export type Outs = Record<string, boolean[]>

/** Returns the history of one upgrade for each of these pods: in rotation, out once, and in rotation again. */
export function onceEach(pods: readonly string[]): Outs {
  return Object.fromEntries(pods.map((pod) => [pod, [false, true, false]]))
}

/** Returns the history without repetitions. Each of the `states` tells whether a pod was out at a moment. */
export function withoutRepetitions(pods: readonly string[], states: readonly ((pod: string) => boolean)[]): Outs {
  return Object.fromEntries(
    pods.map((pod) => {
      const outs = states.map((isOut) => isOut(pod))
      return [pod, outs.filter((out, index) => out !== outs[index - 1])]
    }),
  )
}
