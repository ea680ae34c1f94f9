/**
 * The invariants:
 * - `I1` one drain and one restore for each target of an attempt, in order; none for what an operator has out
 * - `I2` no image is patched unless its template has it, and every target of the pod is out and settled, and empty where that can be known
 * - `I3` a pod is put back only where it is ready, and where it was patched only with a container proven new
 * - `I4` attempt and epoch never go back, and no two owners write in one epoch
 * - `I5` every effect has an earlier durable intent, and comes from the owner, who begins no pod against an order that he has read
 * - `I6` once faults stop, every pod is home and at its images, or a person is told
 * - `I7` no more pods are out than the window allows
 * - `exposure` no request reaches a pod while sluice restarts it
 */
export type Invariant = 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I7' | 'exposure'

export interface Violation {
  invariant: Invariant
  /** The time on the clock of the history, in milliseconds. */
  at: number
  message: string
  /** The entries of the history that show the violation. */
  entries: number[]
}

/** Takes each violation that a rule finds at the present entry. */
export type Report = (invariant: Invariant, message: string, ...earlier: (number | undefined)[]) => void
