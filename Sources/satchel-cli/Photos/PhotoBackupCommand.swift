import ArgumentParser
import Satchel

/// `satchel photos backup`.
struct PhotoBackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Upload the photos' files, and get them back.",
    subcommands: [
      PhotoBackupRunCommand.self, PhotoBackupRestoreCommand.self, PhotoBackupRestoreAllCommand.self,
      PhotoBackupRefreshCommand.self, PhotoBackupDeleteCommand.self,
    ])
}

/// `satchel photos backup run`: uploads the files of the queued photos.
struct PhotoBackupRunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Upload the files of the queued photos.",
    discussion: """
      Uploads each file to photos/USER/MD5, several at once, checks it, and records the result. A file that the \
      remote has already is not sent again. Films and sidecars go with their photos, and at the end this device's \
      index of names and folders. With --all the photos that have a file here and are not backed up are starred \
      first, which queues them, and all films and sidecars are uploaded.

        satchel photos backup run guide.satchel ~/Pictures --user ana --remote s3://photos --all

      Exit codes: 0 all queued files are uploaded; 1 some could not be; 2 could not run. After Ctrl-C what is \
      uploaded is recorded, and the next run continues from there.
      """)

  @OptionGroup var arguments: PhotoArguments
  @OptionGroup var remote: RemoteArguments

  @Flag(help: "Star all photos that have a file here and are not backed up, and upload them.")
  var all = false

  @Flag(
    help: "Write to a directory that is absent, empty or another one than before.")
  var recreate = false

  @OptionGroup var transfer: TransferArguments

  func run() throws {
    var options = PhotoBackupOptions()
    options.all = all
    options.recreate = recreate
    let report = try transfer.run(options, json: arguments.json, text: Self.text) { options, progress in
      try arguments.withCatalogue(writing: true, creating: false) { photos in
        try photos.runBackup(
          with: remote.open(), user: UserID(remote.user), options: options, progress: progress)
      }
    }
    if report.isCancelled {
      Terminal.printError("interrupted: what is uploaded is recorded, and the next run continues from there")
      Interruption.raiseSignal()
    }
    if report.failedCount > 0 { throw Terminal.attention }
  }

  private static func text(_ report: PhotoBackupReport) -> String {
    var lines = report.failed.map { "failed: \($0.filename.printable): \($0.message.printable)" }
    var parts = ["\(Terminal.count(Int(report.uploaded), "file")) uploaded"]
    if report.found > 0 { parts.append("\(report.found) there already") }
    if report.failedCount > 0 { parts.append("\(report.failedCount) failed") }
    let queued = report.queued - report.elsewhere
    if queued > 0 { parts.append("\(queued) still queued") }
    if report.elsewhere > 0 { parts.append("\(report.elsewhere) on other devices") }
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

/// `satchel photos backup restore-all`: downloads all files that are not here.
struct PhotoBackupRestoreAllCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore-all",
    abstract: "Download all files that are not here, with their folders.",
    discussion: """
      Downloads photos, films and sidecars, checks their MD5, and writes them with the folders, names and times that \
      the indexes of all devices give them. No existing file is replaced: where another one has a path, the file \
      gets a number behind its name.

        satchel photos backup restore-all guide.satchel ~/Pictures --user ana --remote s3://photos
        satchel photos backup restore-all guide.satchel ~/Pictures --to ~/Restored --user ana --remote s3://photos

      Exit codes: 0 all files are there; 1 some could not be written; 2 could not run. After Ctrl-C the next call \
      continues with the rest.
      """)

  @OptionGroup var arguments: PhotoArguments

  @Option(help: ArgumentHelp("The directory to write to.", valueName: "directory"), completion: .directory)
  var to: String?

  @Flag(help: "Download photos that have a file here, too.")
  var existingToo = false

  @Flag(help: "Write all files to one folder.")
  var withoutFolders = false

  @OptionGroup var remote: RemoteArguments
  @OptionGroup var transfer: TransferArguments

  func run() throws {
    let report = try transfer.run(PhotoBackupOptions(), json: arguments.json, text: Self.text) {
      backup, progress in
      var options = PhotoRestoreOptions()
      (options.backup, options.target) = (backup, to)
      (options.onlyMissing, options.withFolders) = (!existingToo, !withoutFolders)
      return try arguments.withCatalogue(writing: true, creating: false) { photos in
        try photos.restoreAll(
          from: remote.open(isReading: true), user: UserID(remote.user), options: options, progress: progress)
      }
    }
    if report.isCancelled {
      Terminal.printError("interrupted: the next call continues with the rest")
      Interruption.raiseSignal()
    }
    if report.failedCount > 0 { throw Terminal.attention }
  }

  private static func text(_ report: PhotoRestoreAllReport) -> String {
    var lines = report.failed.map { "failed: \($0.path.printable): \($0.message.printable)" }
    var parts = ["\(Terminal.count(Int(report.restored), "file")) restored"]
    if report.renamed > 0 { parts.append("\(report.renamed) under another name") }
    if report.unchanged > 0 { parts.append("\(report.unchanged) there already") }
    if report.failedCount > 0 { parts.append("\(report.failedCount) failed") }
    if report.absent > 0 { parts.append("\(report.absent) never backed up") }
    lines.append(
      "\(parts.joined(separator: ", ")); "
        + Terminal.traffic(requests: report.requests, report.bytesUp, report.bytesDown))
    return lines.joined(separator: "\n")
  }
}

/// `satchel photos backup delete`: deletes a file from the remote.
struct PhotoBackupDeleteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete a file from the remote, for good.",
    discussion: """
      The photo's row and its files here stay as they are; a photo that counts as backed up loses its star. \
      "refresh" names the files that belong to no photo.

        satchel photos backup delete guide.satchel ~/Pictures 0123456789abcdef0123456789abcdef --user ana --remote s3://photos

      Exit codes: 0 deleted; 1 the remote did not have the file; 2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments

  @Argument(help: "The MD5 of the file, 32 hexadecimal digits.")
  var md5: String

  @OptionGroup var remote: RemoteArguments

  func validate() throws {
    guard MD5(md5) != nil else { throw ValidationError("\(md5.printable): is not 32 hexadecimal digits") }
  }

  func run() throws {
    guard let photo = MD5(md5) else { return }
    let isDeleted = try arguments.withCatalogue(writing: true, creating: false) { photos in
      try photos.deleteBackup(of: photo, from: remote.open(), user: UserID(remote.user))
    }
    let output = try Output()
    let json: JSONValue = ["deleted": .bool(isDeleted)]
    try output.put(
      arguments.json ? json.plainText + "\n" : isDeleted ? "deleted\n" : "the remote did not have it\n")
    try output.finish()
    if !isDeleted { throw Terminal.attention }
  }
}

/// `satchel photos backup refresh`: stars the photos whose file is in the remote.
struct PhotoBackupRefreshCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refresh",
    abstract: "List the files in the remote, and star the photos that are backed up.",
    discussion: """
      A star says that a photo's file is in the remote, or is to be. The command lists the files below \
      photos/USER/, with one request for 1,000 of them, and stars the photos that another device has backed up. With \
      --read every file is downloaded and compared with its MD5.

        satchel photos backup refresh guide.satchel ~/Pictures --user ana --remote s3://photos
        satchel photos backup refresh guide.satchel ~/Pictures --user ana --remote s3://photos --read --queue-missing

      Exit codes: 0 all uploaded photos are in the remote; 1 some are missing or damaged there; \
      2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments
  @OptionGroup var remote: RemoteArguments

  @Flag(help: "Queue photos again that were uploaded, and that the remote does not have, or has damaged.")
  var queueMissing = false

  @Flag(help: "Download every file, and compare it with its MD5.")
  var read = false

  @Flag(help: "Abort uploads in parts that were begun more than a week ago.")
  var abortUploads = false

  @OptionGroup var transfer: TransferArguments

  func run() throws {
    let report = try transfer.run(PhotoBackupOptions(), json: arguments.json, text: Self.text) {
      options, progress in
      try arguments.withCatalogue(writing: true, creating: false) { photos in
        try photos.refreshBackups(
          with: remote.open(isReading: true), user: UserID(remote.user), queueMissing: queueMissing,
          reading: read, abortingUploads: abortUploads, options: options, progress: progress)
      }
    }
    if report.missingCount + report.damagedCount > report.queued { throw Terminal.attention }
  }

  private static func text(_ report: PhotoRefreshReport) -> String {
    var lines = report.damaged.map { "damaged in the remote: \($0)" }
    lines += report.missing.map { "missing in the remote: \($0)" }
    lines += report.unknown.map { "of no photo: \($0.printable)" }
    lines += report.uploads.map { "upload never completed: \($0.printable)" }
    var parts = ["\(Terminal.count(Int(report.photos), "photo")) backed up", "\(report.starred) starred"]
    if report.missingCount > 0 { parts.append("\(report.missingCount) missing") }
    if report.damagedCount > 0 { parts.append("\(report.damagedCount) damaged") }
    if report.queued > 0 { parts.append("\(report.queued) queued again") }
    if report.unknownCount > 0 { parts.append("\(report.unknownCount) of no photo") }
    if report.aborted > 0 { parts.append("\(Terminal.count(Int(report.aborted), "upload")) aborted") }
    lines.append("\(parts.joined(separator: ", ")); \(Terminal.count(Int(report.requests), "request"))")
    return lines.joined(separator: "\n")
  }
}
