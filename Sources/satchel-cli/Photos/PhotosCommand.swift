import ArgumentParser

/// `satchel photos`.
struct PhotosCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "photos",
    abstract: "Manage the photo catalogue of a directory and sync it with a remote.",
    discussion: """
      A catalogue has a row for each photo of a directory. It is kept in a store and synced with a remote: a \
      directory or an S3 bucket. Only "scan" reads the photos; no command changes them.

        satchel photos scan --create guide.satchel ~/Pictures
        satchel photos status guide.satchel ~/Pictures
        satchel photos query guide.satchel ~/Pictures --from 2024-01 --order photodate
        satchel photos sync guide.satchel ~/Pictures --user ana --remote s3://photos --dry-run

      Ctrl-C stops "scan" and "sync" in a consistent state: completed work is kept, and the next run \
      continues from there. A second Ctrl-C terminates them at once.
      """,
    subcommands: [
      PhotoScanCommand.self, PhotoStatusCommand.self, PhotoQueryCommand.self, PhotoTrashCommand.self,
      PhotoSyncCommand.self,
      PhotoVerifyCommand.self, PhotoBackupCommand.self,
      PhotoExportCommand.self, PhotoImportCommand.self, PhotoProbeCommand.self,
      PhotoMoveCommand.self, PhotoDetachCommand.self,
    ])
}
