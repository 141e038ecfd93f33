export const usage = `usage: oncely COMMAND [OPTIONS]

  oncely migrate          creates the tables, or brings them up to date
  oncely migrate status   lists the migrations, and whether they are applied
  oncely migrate down     undoes the last migration, with every row of its tables
  oncely migrate grants   prints the GRANTs for a role that may not change tables
  oncely doctor           looks whether the database is fit; exits with 1 if not
  oncely sweep            clears the responses that are past their replay window

The database, for all but grants:
  --url URL          as postgres://user:password@host:port/name; else the variable
                     DATABASE_URL, else kysely.config.ts in this folder
  --schema NAME      the schema of the tables (idem)

migrate:
  --with-orders      also the reference orders; also for grants
  --dry-run          prints the SQL and runs nothing; also for migrate down
migrate down:
  --all              undoes every migration; the empty schema stays
  --yes              does it; without it, says what data would go
migrate grants:
  --role NAME        the role of the application
  --sweeper          also what a sweeper needs; also for doctor
doctor:
  --lock-timeout-ms  what the application sets as lockTimeoutMs (250)
sweep:
  --once             one round; else round after round until SIGTERM or SIGINT
  --batch N          how many records one transaction takes (1000)
  --interval SECONDS from one round to the next (60)
  --tombstone-window-ms MS
                     how long a tombstone is kept before it is deleted (for ever)

Exits with 0 when it is done and all is well, with 1 when it is not, with 2 for a command line
that is not one. Behind an error, in brackets, its code: see docs/errors.md in the package.
`
