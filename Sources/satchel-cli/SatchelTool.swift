import ArgumentParser
import Satchel

/// The root command.
struct SatchelTool: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "satchel",
    abstract:
      "Inspect, change, check, back up and sync Satchel stores, and check stories.",
    discussion: """
      A store is one SQLite file with an app's offline content. The tool can be used while the app has the \
      store open. Only the commands that change a store write to it. Stories are files and need no store.

        satchel demo satchel-demo
        satchel catalogue show guide.satchel
        satchel catalogue show guide.satchel --place PT/Porto
        satchel photos scan guide.satchel ~/Pictures
        satchel records list guide.satchel
        satchel sync guide.satchel --user ana --remote s3://guide --dry-run
        satchel store check guide.satchel
        satchel store backup guide.satchel backups/ --keep 5
        satchel report guide.satchel -o report.html
        satchel story lint stories/

      Exit codes: 0 success; 1 the command found a problem, or did not find what was requested (see its \
      help); 2 the command could not run, and a line on the standard error gives the reason.

      With --json a command prints one line of JSON instead of text.

      Shell completion: satchel --generate-completion-script bash (or zsh, or fish).
      """,
    version: Store.versionDetails,
    subcommands: [
      SyncCommand.self, ConflictsCommand.self, CatalogueCommand.self, RegionCommand.self, PhotosCommand.self,
      RecordsCommand.self,
      StateCommand.self, AssetsCommand.self, StoryCommand.self, StoreCommand.self, ReportCommand.self,
      DemoCommand.self,
    ])
}

/// `satchel catalogue`.
struct CatalogueCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "catalogue",
    abstract: "Show, plan and prune content that is scoped to places.",
    subcommands: [
      CatalogueShowCommand.self, CatalogueSearchCommand.self, CatalogueLocateCommand.self,
      CataloguePlanCommand.self, CatalogueRefreshCommand.self, CatalogueRenewCommand.self,
      CatalogueDeleteCommand.self,
      CataloguePruneCommand.self,
    ])
}

/// `satchel store`.
struct StoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store",
    abstract: "Check, back up, restore, recover and observe a store.",
    discussion: """
        satchel store check guide.satchel
        satchel store backup guide.satchel backups/ --keep 5
        satchel store restore backups/guide-20270305T101500000Z.satchel guide.satchel
        satchel store recover damaged.satchel new.satchel
        satchel store stats guide.satchel
        satchel store compact guide.satchel
        satchel store observe guide.satchel

      Ctrl-C stops "backup" and "recover", which leave no partial file, and "compact", which the next run continues.
      """,
    subcommands: [
      StoreCheckCommand.self, StoreBackupCommand.self, StoreRestoreCommand.self, StoreRecoverCommand.self,
      StoreStatsCommand.self, StoreCompactCommand.self, StoreInfoCommand.self, StoreObserveCommand.self,
      StoreDetachCommand.self, StoreSignOutCommand.self, StoreDeleteAccountCommand.self,
    ])
}
