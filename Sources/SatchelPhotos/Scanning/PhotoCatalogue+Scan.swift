import SatchelStorage

extension PhotoCatalogue {
  /// Finds the photos in the catalogue's directory and below, and takes them into the catalogue.
  ///
  /// Photos are told by the ends of their names; hidden files and directories are left out, and links are not
  /// followed. Files with the size and time that an earlier scan saw are not read again. A photo is dated by its
  /// EXIF, else by its file; it is named after the first of its files, in the order of paths. A photo that came
  /// from the master keeps its row, only an unknown size in pixels is added.
  ///
  /// What was read is kept in parts of some hundred files: a scan that was interrupted goes on from there.
  ///
  /// - Parameter progress: called on this thread several times a second; false ends the scan
  /// - Returns: what was found; whatever could not be taken is in it
  /// - Throws: `.notFound` when there is no such directory, `.invalid` when it is none, `.readOnly`, `.closed`,
  ///   `.noMemory`, `.io`
  public func scan(
    options: ScanOptions = ScanOptions(), progress: ((ScanProgress) -> Bool)? = nil
  ) throws -> ScanReport {
    try scan(options, libraries: { .shared }, progress)
  }

  /// - Parameter libraries: asked for when there is something to read
  func scan(
    _ options: ScanOptions, libraries: () -> ImageLibraries, _ progress: ((ScanProgress) -> Bool)? = nil
  ) throws -> ScanReport {
    try checkOpen()
    guard !database.options.isReadOnly else {
      throw SatchelError(.readOnly, "\(database.path): opened to read only, which scanning is not")
    }
    let root = try PhotoRoot(directory)
    // From now on there is a catalogue, also of a directory without photos.
    try identify()
    var walk = PhotoWalk(root)
    var told: Int64 = 0
    let isComplete = walk.run { found in
      guard let progress, ScanTime.now - told >= 50 else { return true }
      told = ScanTime.now
      return progress(ScanProgress(phase: .walking, filesFound: Int64(found.entries.count)))
    }
    let found = walk.found
    let known = try read(otherwise: []) { try FileTable(connection: $0, catalogue: $1).all() }
    var scan = Scan(self, found: found, known: known, options: options)
    guard isComplete else { return scan.report(isCancelled: true) }
    // The first time what is new, then what inherits a photo from a file that is gone.
    for _ in 0..<2 {
      let next = scan.next()
      if try !scan.read(next, in: root, libraries: libraries, progress) {
        return scan.report(isCancelled: true)
      }
    }
    try scan.finish()
    return scan.report(isCancelled: false)
  }
}
