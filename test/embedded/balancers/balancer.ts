/** A load balancer in front of the pods of a bed, with what the product itself was told, however many processes have told it. */
export interface Balancer {
  /** Entries of `loadBalancers` of a config. */
  readonly loadBalancers: readonly object[]
  /** Of each pod, whether it was out: from the beginning on, without repetitions. Where there are several products: in each. */
  history(): Outs
  /** All that it has been told to be now, in a form in which equal settings are equal. */
  settings(): Promise<unknown>
  stop(): Promise<void>
}

export type Outs = Record<string, boolean[]>

/** In rotation, out once, and in rotation again: for each of these pods. */
export function onceEach(pods: readonly string[]): Outs {
  return Object.fromEntries(pods.map((pod) => [pod, [false, true, false]]))
}

/** `states`: whether each pod was out, at one time after another. */
export function withoutRepetitions(pods: readonly string[], states: readonly ((pod: string) => boolean)[]): Outs {
  return Object.fromEntries(
    pods.map((pod) => {
      const outs = states.map((isOut) => isOut(pod))
      return [pod, outs.filter((out, index) => out !== outs[index - 1])]
    }),
  )
}
