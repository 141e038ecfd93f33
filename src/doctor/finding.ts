/** Something that is not as it should be, and how to mend it. */
export interface Finding {
  /**
   * What kind of finding it is, as a stable string:
   * - `server_too_old`: of a version that oncely is not tested on.
   * - `read_only`: a standby, or a role whose transactions are read-only by default.
   * - `schema_missing`, `schema_outdated`, `schema_newer`: migrations are missing here, or there.
   * - `schema_drift`: a table is not as its migration made it.
   * - `grant_missing`: a right that the library needs.
   * - `isolation_default`: transactions that the host opens for oncely to join would be refused.
   * - `claim_committed`: a record without an outcome, which `records_outcome_at_commit` should have refused.
   * - `timeout_short`: a bound of the server's or the pool's that ends a wait before oncely does.
   */
  readonly code:
    | 'server_too_old'
    | 'read_only'
    | 'schema_missing'
    | 'schema_outdated'
    | 'schema_newer'
    | 'schema_drift'
    | 'grant_missing'
    | 'isolation_default'
    | 'claim_committed'
    | 'timeout_short'
  /** What is wrong, in one line. */
  readonly problem: string
  /** What to do about it, in one line. */
  readonly mend: string
  /** The same in SQL, for whoever may change the schema; where it can be said in SQL. */
  readonly sql?: string
}
