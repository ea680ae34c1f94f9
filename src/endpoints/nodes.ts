/** The namespace of the Leases that kubelets renew. Each node has one, with the name of the node. */
export const NODE_LEASES = 'kube-node-lease'
