import ArgumentParser
import Satchel

/// The tool itself: its subjects, and what `satchel --help` says.
struct SatchelTool: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "satchel",
    abstract:
      "Look into a Satchel store, keep it safe, small and sound, sync photos, and check branching stories.",
    discussion: """
      A store is one SQLite file that an app keeps its offline content in. The tool uses it while the app \
      runs; it writes only where a command is there for it. Stories are files, and need no store.

        satchel catalogue show guide.satchel
        satchel catalogue plan guide.satchel --location '{"country_code": "PT"}'
        satchel photos scan guide.satchel ~/Pictures
        satchel records list guide.satchel
        satchel store check guide.satchel
        satchel store backup guide.satchel backups/ --keep 5
        satchel story lint stories/

      Exit codes: 0 all is well; 1 something was found that wants attention, or nothing was found that was \
      asked for (each command says which); 2 the command could not run, and a line on the standard error says why.

      With --json a command prints one line of JSON instead of text.

      Completion for a shell: satchel --generate-completion-script bash (or zsh, or fish).
      """,
    version: Satchel.versionDetails,
    subcommands: [
      CatalogueCommand.self, PhotosCommand.self, RecordsCommand.self, StoryCommand.self, StoreCommand.self,
    ])
}

/// `satchel catalogue`.
struct CatalogueCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "catalogue",
    abstract: "The content of a store, scoped to places.",
    subcommands: [CatalogueShow.self, CataloguePlan.self, CataloguePrune.self])
}

/// `satchel store`.
struct StoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store",
    abstract: "The store as a file: examine it, copy it, bring it back.",
    discussion: """
        satchel store check guide.satchel
        satchel store backup guide.satchel backups/ --keep 5
        satchel store restore backups/guide-20270305T101500000Z.satchel guide.satchel
        satchel store recover damaged.satchel new.satchel
        satchel store stats guide.satchel

      Ctrl-C stops "backup" and "recover", which leave nothing half done.
      """,
    subcommands: [
      StoreCheck.self, StoreBackup.self, StoreRestoreCommand.self, StoreRecover.self, StoreStats.self,
      StoreInfo.self,
    ])
}
