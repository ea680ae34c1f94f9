/**
 * What really happens on the nodes, whatever the API says of it: the truth that a checker judges by.
 *
 * A container answers requests rightly from `containerServing`, which is not when Ready says so, and takes no new ones
 * from `containerStopping` or `containerExited`, whichever comes first. A preStop hook comes before `containerStopping`:
 * the container serves while it runs. `image` is what the pod's spec asked for, `imageId` the digest that runs.
 * Addresses are without port; a pod on its host's network has the node's.
 */
export type NodeFact =
  | { type: 'containerStarted'; uid: string; container: string; id: string; image: string; imageId: string; address: string }
  | { type: 'containerServing'; uid: string; container: string; id: string }
  | { type: 'containerStopping'; uid: string; container: string; id: string }
  | { type: 'containerExited'; uid: string; container: string; id: string; code: number }
  | { type: 'sandboxStarted'; uid: string; address: string }
  | { type: 'sandboxDied'; uid: string; address: string }
