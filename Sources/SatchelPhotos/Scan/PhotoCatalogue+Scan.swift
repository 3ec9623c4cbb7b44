import SatchelCore
import SatchelStorage

extension PhotoCatalogue {
  /// Scans the catalogue's directory and its subdirectories, and adds the photos to the catalogue.
  ///
  /// Photos are recognized by the extensions of their names; hidden files and directories, and those that
  /// systems keep for themselves, are left out, and so is what `.satchelignore` and the options name. Links are
  /// not followed, and a file that a program is writing is left for the next scan. Files with the size and times
  /// that an earlier scan found are not read again. A photo has the date of the best `PhotoDateSource`, and the
  /// name of the first of its files, in the order of paths. A photo that came from the remote keeps its row;
  /// only an unknown size in pixels is added.
  ///
  /// When a file was edited, its photo's star and its place in the backup pass to the new content, and the row
  /// of the old content is deleted where no other file has it. A row that went away while its file is here,
  /// as another device had deleted it, returns; one that `delete` removed on this device does not, until its
  /// file is edited.
  ///
  /// Results are committed in batches of some hundred files: a scan after an interrupted one continues from
  /// there.
  ///
  /// - Parameter progress: called on this thread several times a second; false ends the scan
  /// - Returns: the report, which includes the files that were skipped
  /// - Throws: `.notFound` when the directory does not exist, `.invalid` when it is not a directory,
  ///   `.unavailable` when the directory is empty and an earlier scan has found photos there, or when more photos
  ///   would be deleted than `allowMassDeletion` is needed for; `.readOnly`, `.closed`, `.noMemory`, `.io`
  public func scan(
    options: ScanOptions = ScanOptions(), progress: ((ScanProgress) -> Bool)? = nil
  ) throws -> ScanReport {
    try checkOpen()
    guard !database.options.isReadOnly else {
      throw SatchelError(.readOnly, "\(database.path): is opened read-only; scanning writes to it")
    }
    let root = try PhotoRoot(directory)
    // A directory without photos gets a catalogue, too.
    try identify()
    var walk = PhotoWalk(root, exclude: ScanRules(lines: Array(options.exclude.utf8)))
    var lastReport: Int64 = 0
    let isComplete = walk.run { found in
      guard let progress, Clock.monotonic.now() - lastReport >= 50 else { return true }
      lastReport = Clock.monotonic.now()
      return progress(ScanProgress(phase: .walking, filesFound: Int64(found.entries.count)))
    }
    let found = walk.found
    let (known, present) = try knownFiles()
    var scan = Scan(self, found: found, known: known, present: present, options: options)
    guard isComplete else { return scan.report(isCancelled: true) }
    if found.isEmpty, !options.allowMassDeletion, known.contains(where: { !$0.isMissing }) {
      throw SatchelError(
        .unavailable,
        "\(directory): is empty, and \(known.count) files were there at the last scan: is its disk mounted? "
          + "allow_mass_deletion scans it all the same")
    }
    // First new files, then those that replace the missing first file of a photo.
    for _ in 0..<2 {
      let next = scan.next()
      if try !scan.read(next, in: root, progress) {
        return scan.report(isCancelled: true)
      }
    }
    try scan.finish()
    return scan.report(isCancelled: false)
  }
}

extension PhotoCatalogue {
  /// Returns the files of earlier scans, and those of their photos that the catalogue has.
  private func knownFiles() throws -> (files: [KnownFile], present: Set<MD5>) {
    try read(otherwise: ([], [])) { connection, id in
      let files = try FileTable(connection: connection, catalogue: id).all()
      let lookup = PhotoLookup(connection: connection, catalogue: id)
      let photos = Set(files.compactMap { $0.kind == .photo ? $0.md5 : nil })
      return (files, try Set(photos.ordered().filter { try lookup.photo($0) != nil }))
    }
  }

  /// Passes the star of a photo, and its place in the backup, to the photo that its file has become.
  func passOn(_ old: MD5, to new: MD5) throws {
    try write { transaction, id in
      let table = LocalTable(connection: transaction.connection, catalogue: id)
      guard var before = try table.row(old), before.isStarred else { return }
      var after = try table.row(new) ?? LocalRow()
      try after.star(true, in: table)
      try table.put(new, after)
      // Its file is not here any more.
      try before.star(false, in: table)
      try table.put(old, before)
      notify([new], in: transaction)
    }
  }
}

/// A photo that was read, to be written into the catalogue.
struct ScanRow {
  /// The index of its file in the walk.
  var number: Int
  /// The file's name, without its directory.
  var name: String
  var scanned: ScannedPhoto
}

extension PhotoCatalogue {
  /// Writes photos that were read into the catalogue.
  ///
  /// - Parameters:
  ///   - isOwn: whether an earlier scan found a local file of these bytes
  ///   - report: called for each photo with whether its row changed
  func importScanned(
    _ rows: [ScanRow], in transaction: Transaction, _ id: Int64, isOwn: (MD5) -> Bool,
    report: (ScanRow, Bool) -> Void
  ) throws {
    let lookup = PhotoLookup(connection: transaction.connection, catalogue: id)
    let table = LocalTable(connection: transaction.connection, catalogue: id)
    var photos: [Photo] = []
    var described: [MD5] = []
    for row in rows {
      let existing = try lookup.photo(row.scanned.md5)
      let photo = row.photo(over: existing, isOwn: isOwn(row.scanned.md5))
      var local = try table.row(row.scanned.md5) ?? LocalRow()
      let date = (local.scannedDate, local.dateSource)
      (local.scannedDate, local.dateSource) = (row.scanned.photodate, row.scanned.facts.dateSource ?? .file)
      let isDescribed = row.scanned.facts.describe(&local.metadata)
      if isDescribed || date != (local.scannedDate, local.dateSource) {
        try table.put(row.scanned.md5, local)
        described.append(row.scanned.md5)
      }
      if photo != existing { photos.append(photo) }
      report(row, photo != existing)
    }
    notify(described, in: transaction)
    try upsert(photos)
  }
}

extension ImageFacts {
  /// Updates metadata with the values that are known; others stay.
  ///
  /// - Returns: whether anything changed
  func describe(_ metadata: inout PhotoMetadata) -> Bool {
    let before = metadata
    metadata.cameraMake = cameraMake ?? metadata.cameraMake
    metadata.cameraModel = cameraModel ?? metadata.cameraModel
    metadata.orientation = orientation ?? metadata.orientation
    metadata.latitude = latitude ?? metadata.latitude
    metadata.longitude = longitude ?? metadata.longitude
    metadata.aperture = aperture ?? metadata.aperture
    metadata.shutterSpeed = shutterSpeed ?? metadata.shutterSpeed
    metadata.iso = iso ?? metadata.iso
    metadata.focalLength = focalLength ?? metadata.focalLength
    metadata.utcOffset = dateSource == nil ? metadata.utcOffset : utcOffset
    return metadata != before
  }
}

extension ScanRow {
  /// Returns the photo's new row.
  ///
  /// - Parameters:
  ///   - existing: the row in the catalogue
  ///   - isOwn: whether that row came from a local file; else it came from the remote, and keeps its name and
  ///     dates, which are as good as the local ones: changing them would upload every photo again
  func photo(over existing: Photo?, isOwn: Bool) -> Photo {
    var photo = scanned.photo(named: name)
    guard let existing else { return photo }
    photo.applePhotoID = existing.applePhotoID
    photo.width = photo.width ?? existing.width
    photo.height = photo.height ?? existing.height
    guard !isOwn else { return photo }
    var kept = existing
    if kept.width == nil || kept.height == nil { (kept.width, kept.height) = (photo.width, photo.height) }
    return kept
  }
}
