import ArgumentParser
import Satchel

/// `satchel photos backup`.
struct PhotoBackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Compare the photos with their files in the remote.",
    subcommands: [PhotoBackupRefreshCommand.self])
}

/// `satchel photos backup refresh`: stars the photos whose file is in the remote.
struct PhotoBackupRefreshCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refresh",
    abstract: "List the files in the remote, and star the photos that are backed up.",
    discussion: """
      A star says that a photo's file is in the remote, or is to be. The command lists the files below \
      photos/USER/, with one request for 1,000 of them, and stars the photos that another device has backed up.

        satchel photos backup refresh guide.satchel ~/Pictures --user ana --remote s3://photos

      Exit codes: 0 all uploaded photos are in the remote; 1 some are missing or have another size there; \
      2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments
  @OptionGroup var remote: RemoteArguments

  @Flag(help: "Queue photos again that were uploaded, and that the remote does not have.")
  var queueMissing = false

  @OptionGroup var transfer: TransferArguments

  func run() throws {
    let report = try transfer.run(PhotoBackupOptions(), json: arguments.json, text: Self.text) {
      options, progress in
      try arguments.withCatalogue(writing: true, creating: false) { photos in
        try photos.refreshBackups(
          with: remote.open(isReading: true), user: UserID(remote.user), queueMissing: queueMissing,
          options: options, progress: progress)
      }
    }
    if report.missingCount > report.queued || report.damagedCount > 0 { throw Terminal.attention }
  }

  private static func text(_ report: PhotoRefreshReport) -> String {
    var lines = report.damaged.map { "another size in the remote: \($0)" }
    lines += report.missing.map { "missing in the remote: \($0)" }
    var parts = ["\(Terminal.count(Int(report.photos), "photo")) backed up", "\(report.starred) starred"]
    if report.missingCount > 0 { parts.append("\(report.missingCount) missing") }
    if report.damagedCount > 0 { parts.append("\(report.damagedCount) damaged") }
    if report.queued > 0 { parts.append("\(report.queued) queued again") }
    if report.unknownCount > 0 { parts.append("\(report.unknownCount) of other photos") }
    lines.append("\(parts.joined(separator: ", ")); \(Terminal.count(Int(report.requests), "request"))")
    return lines.joined(separator: "\n")
  }
}
