/** Kubelets that lie, for negative controls: whoever relies on the real order must fail with them. None is real. */
export interface Behaviour {
  /** The status that tells of a new generation also says that the containers are not ready. */
  readyResetAtOnce?: boolean
  /** The status that tells of a new generation shows the new image while the old container runs. */
  imageIdEarly?: boolean
  /** A new generation is told only with the container that came of it. */
  observedGenerationLate?: boolean
}
