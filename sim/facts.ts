/**
 * The real events on the nodes, independent of the API. A checker judges by them. A container answers requests correctly from
 * `containerServing`, which is not when Ready says so. It takes no new requests from `containerStopping` or `containerExited`, whichever
 * comes first. A preStop hook runs before `containerStopping`, and the container serves meanwhile.
 * `image` is the image in the spec of the pod, `imageId` the digest that runs. Addresses have no port; a pod on the network of its host has
 * the address of the node.
 */
export type NodeFact =
  | { type: 'containerStarted'; uid: string; container: string; id: string; image: string; imageId: string; address: string }
  | { type: 'containerServing'; uid: string; container: string; id: string }
  | { type: 'containerStopping'; uid: string; container: string; id: string }
  | { type: 'containerExited'; uid: string; container: string; id: string; code: number }
  | { type: 'sandboxStarted'; uid: string; address: string }
  | { type: 'sandboxDied'; uid: string; address: string }
