import ArgumentParser

/// `satchel photos`.
struct PhotosCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "photos",
    abstract: "The photo catalogue of a directory, and its master copy.",
    discussion: """
      A catalogue has a row for each photo of a directory. It is kept in a store, and its master copy in an object \
      store: a directory, or a bucket of S3. The photos themselves are read by "scan" only, and never changed.

        satchel photos scan --create guide.satchel ~/Pictures
        satchel photos status guide.satchel ~/Pictures
        satchel photos query guide.satchel ~/Pictures --from 2024-01 --order photodate
        satchel photos sync guide.satchel ~/Pictures --user ana --remote s3://photos --dry-run

      Ctrl-C stops "scan" and "sync" where all is sound: what was done stays, and the next run goes on from there. \
      A second one ends them at once.
      """,
    subcommands: [
      PhotoScanCommand.self, PhotoStatusCommand.self, PhotoQueryCommand.self, PhotoSyncCommand.self,
      PhotoVerifyCommand.self,
      PhotoExportCommand.self, PhotoImportCommand.self, PhotoConflictsCommand.self, PhotoProbeCommand.self,
      PhotoUnlinkCommand.self,
    ])
}
