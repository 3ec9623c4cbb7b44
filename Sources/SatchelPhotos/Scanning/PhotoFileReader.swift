import SatchelStorage

/// Reads files of a tree, one after the other: their MD5, and what their first bytes say.
struct PhotoFileReader: ~Copyable {
  /// How much is read at a time, and how much of a picture's beginning is looked at: EXIF lies within the first
  /// segments of 64 KB, and so do the sizes of all but a few files with very large colour profiles or texts.
  static let headSize = 1 << 20

  private let tree: PhotoTree
  private let zone: Int64
  private let libraries: ImageLibraries
  private var cursor: DirectoryCursor
  private var buffer: [UInt8] = []

  /// - Parameter zone: what dates without a zone are in, seconds east of UTC
  init(_ tree: PhotoTree, in root: PhotoRoot, zone: Int64, libraries: ImageLibraries) {
    self.tree = tree
    self.zone = zone
    self.libraries = libraries
    cursor = DirectoryCursor(root)
  }

  /// Reads a file.
  ///
  /// - Parameter goOn: told the bytes of each part that was read; false gives up
  /// - Returns: nil when it was given up
  mutating func read(_ entry: PhotoEntry, _ goOn: (Int) -> Bool) throws(OpenFile.Fault) -> ScannedPhoto? {
    let file = try OpenFile.file(entry.name, in: cursor.enter(entry.directory, of: tree))
    let before = try file.stamp()
    guard before.kind == .file else { throw .special }
    guard before.size > 0 else { throw .empty }
    Self.letTimeMove(past: before)
    // One byte more than the file should have, so that a file which grew is noticed at once.
    let room = before.size < Int64(Self.headSize) ? Int(before.size) + 1 : Self.headSize
    if buffer.count < room { buffer = [UInt8](repeating: 0, count: room) }
    var hash = MD5Hash()
    var facts: ImageFacts?
    var total: Int64 = 0
    while true {
      let count = try fill(file, room, from: total)
      let part = buffer.withUnsafeBytes { bytes in
        let part = UnsafeRawBufferPointer(rebasing: bytes.prefix(count))
        hash.update(part)
        return facts == nil
          ? ImageFacts(head: part, name: entry.name, zone: zone, libraries: libraries) : nil
      }
      facts = facts ?? part
      total += Int64(count)
      guard goOn(count) else { return nil }
      if count < room || total > before.size { break }
    }
    guard total == before.size, try file.stamp() == before else {
      throw OpenFile.Fault("changed while it was read")
    }
    return ScannedPhoto(
      md5: hash.digest(), size: total, modified: before.modified, modifiedSeconds: before.modifiedSeconds,
      facts: facts ?? ImageFacts())
  }

  /// Reads until the buffer's first `room` bytes are full or the file ends.
  private mutating func fill(
    _ file: borrowing OpenFile, _ room: Int, from offset: Int64
  ) throws(OpenFile.Fault) -> Int {
    var count = 0
    while count < room {
      let got = buffer.withUnsafeMutableBytes { bytes in
        pread(file.number, bytes.baseAddress?.advanced(by: count), room - count, off_t(offset) + off_t(count))
      }
      if got < 0 {
        if errno == EINTR { continue }
        throw OpenFile.Fault(errno: errno)
      }
      if got == 0 { break }
      count += got
    }
    return count
  }

  /// File systems tell time in steps of some milliseconds: a file that is read within the step of its last change
  /// could change again unseen. So such a file is read only when the step is over.
  private static func letTimeMove(past stamp: FileStamp) {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let now = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
    let age = now.partialValue.addingReportingOverflow(Int64(time.tv_nsec)).partialValue
      .subtractingReportingOverflow(stamp.modified)
    if !now.overflow, !age.overflow, (0..<10_000_000).contains(age.partialValue) { usleep(10_000) }
  }
}
