import ArgumentParser
import Satchel

/// `satchel photos backup`.
struct PhotoBackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Upload the photos' files, and get them back.",
    subcommands: [
      PhotoBackupRunCommand.self, PhotoBackupRestoreCommand.self, PhotoBackupRefreshCommand.self,
    ])
}

/// `satchel photos backup run`: uploads the files of the queued photos.
struct PhotoBackupRunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Upload the files of the queued photos.",
    discussion: """
      Uploads each file to photos/USER/MD5, several at once, checks it, and records the result. A file that the \
      remote has already is not sent again. With --all the photos that are not backed up are starred first, which \
      queues them; photos whose upload failed are queued again.

        satchel photos backup run guide.satchel ~/Pictures --user ana --remote s3://photos --all

      Exit codes: 0 all queued files are uploaded; 1 some could not be; 2 could not run. After Ctrl-C what is \
      uploaded is recorded, and the next run continues from there.
      """)

  @OptionGroup var arguments: PhotoArguments
  @OptionGroup var remote: RemoteArguments

  @Flag(help: "Star all photos that are not backed up, and upload them.")
  var all = false

  @OptionGroup var transfer: TransferArguments

  func run() throws {
    let report = try transfer.run(PhotoBackupOptions(), json: arguments.json, text: Self.text) {
      options, progress in
      try arguments.withCatalogue(writing: true, creating: false) { photos in
        if all { try Self.starAll(photos) }
        return try photos.runBackup(
          with: remote.open(), user: UserID(remote.user), options: options, progress: progress)
      }
    }
    if report.isCancelled {
      Terminal.printError("interrupted: what is uploaded is recorded, and the next run continues from there")
      Interruption.raiseSignal()
    }
    if report.failedCount > 0 { throw Terminal.attention }
  }

  private static func starAll(_ photos: PhotoCatalogue) throws {
    for status in [BackupStatus.notBackedUp, .error] {
      var query = PhotoQuery()
      query.backup = status
      while true {
        let page = try photos.query(query)
        for photo in page.photos { try photos.star(photo.md5) }
        guard let next = page.next else { break }
        query.cursor = next
      }
    }
  }

  private static func text(_ report: PhotoBackupReport) -> String {
    var lines = report.failed.map { "failed: \($0.filename.printable): \($0.message.printable)" }
    var parts = ["\(Terminal.count(Int(report.uploaded), "file")) uploaded"]
    if report.found > 0 { parts.append("\(report.found) there already") }
    if report.failedCount > 0 { parts.append("\(report.failedCount) failed") }
    if report.queued > 0 { parts.append("\(report.queued) still queued") }
    lines.append(
      "\(parts.joined(separator: ", ")); "
        + Terminal.traffic(requests: report.requests, report.bytesUp, report.bytesDown))
    return lines.joined(separator: "\n")
  }
}

/// `satchel photos backup restore`: downloads a photo's file.
struct PhotoBackupRestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Download the file of a photo.",
    discussion: """
      Downloads the file, checks its MD5, and writes it with the photo's time. An existing file is not replaced.

        satchel photos backup restore guide.satchel ~/Pictures 0123456789abcdef0123456789abcdef lake.jpg --user ana --remote s3://photos

      Exit codes: 0 the file is there; 2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments

  @Argument(help: "The MD5 of the photo, 32 hexadecimal digits.")
  var md5: String

  @Argument(help: "The file to write.", completion: .file())
  var target: String

  @OptionGroup var remote: RemoteArguments
  @OptionGroup var transfer: TransferArguments

  func validate() throws {
    guard MD5(md5) != nil else { throw ValidationError("\(md5.printable): is not 32 hexadecimal digits") }
  }

  func run() throws {
    guard let photo = MD5(md5) else { return }
    _ = try transfer.run(
      PhotoBackupOptions(), json: arguments.json,
      text: { report in
        report.isUnchanged ? "the file was there already" : "\(Terminal.bytes(report.size)) written"
      }
    ) { options, progress in
      try arguments.withCatalogue(creating: false) { photos in
        try photos.restoreBackup(
          of: photo, to: target, from: remote.open(isReading: true), user: UserID(remote.user),
          options: options, progress: progress)
      }
    }
  }
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
