/** Of which cluster, config and program a command is about is known where it is printed: `src/report/words/shell.ts`. */
interface InNamespace {
  namespace: string
}

/** A command for a person to run, as data. */
export type Command =
  | ({
      command: 'resolve'
      pod: string
      /** What the person has seen; absent where the person is to fill it in. */
      traffic?: 'in' | 'out'
      /** Of a pod that is gone, and not of a pod of the same name. */
      gone?: true
      /** Of some load balancers alone. */
      loadBalancers?: string[]
    } & InNamespace)
  /** Brings pods to the template of their workloads. `workloads`: such as `statefulset/web`. */
  | ({ command: 'upgrade'; workloads: string[] } & InNamespace)
  | ({ command: 'undo'; workloads: string[]; run?: string } & InNamespace)
  /** What is open of these workloads; without a name, of the whole namespace. */
  | ({ command: 'status'; workloads: string[] } & InNamespace)
  /** `args` follow the flags for cluster and namespace. */
  | ({ command: 'kubectl'; args: string[] } & InNamespace)
