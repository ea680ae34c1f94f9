/** The printer adds the flags for the cluster, the config and the program: `src/report/words/shell.ts`. */
interface InNamespace {
  namespace: string
}

/** A command for a person to run, as data. */
export type Command =
  | ({
      command: 'resolve'
      pod: string
      /** The traffic that the person has seen; absent if the person has to fill it in. */
      traffic?: 'in' | 'out'
      /** The command is about a pod that is gone, not about a new pod of the same name. */
      gone?: true
      /** The load balancers that the command is limited to. */
      loadBalancers?: string[]
    } & InNamespace)
  /** Brings pods to the template of their workloads. `workloads`: such as `statefulset/web`. */
  | ({ command: 'upgrade'; workloads: string[] } & InNamespace)
  | ({ command: 'undo'; workloads: string[]; run?: string } & InNamespace)
  /** Shows the open work of these workloads; without a name, of the whole namespace. */
  | ({ command: 'status'; workloads: string[] } & InNamespace)
  /** `args` follow the flags for cluster and namespace. */
  | ({ command: 'kubectl'; args: string[] } & InNamespace)
