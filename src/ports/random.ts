/** Random numbers are a port, so that a simulation can replay them from a seed. */
export interface Random {
  /** A number in [0, 1). */
  next(): number
}
