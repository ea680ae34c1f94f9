/**
 * What really happens on the nodes, whatever the API says of it: the truth that a checker judges by.
 * `serving` is from the moment that the process answers requests rightly, which is not when Ready says so.
 */
export type NodeFact =
  | { type: 'containerStarted'; uid: string; container: string; id: string; image: string; imageId: string; address: string }
  | { type: 'containerServing'; uid: string; container: string; id: string }
  | { type: 'containerStopping'; uid: string; container: string; id: string }
  | { type: 'containerExited'; uid: string; container: string; id: string; code: number }
  | { type: 'sandboxStarted'; uid: string; address: string }
  | { type: 'sandboxDied'; uid: string; address: string }
