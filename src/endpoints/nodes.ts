/** The namespace of the Leases that kubelets renew: one for each node, by its name. */
export const NODE_LEASES = 'kube-node-lease'
