import SatchelCore
import SatchelStorage

/// Reads files of a tree, one after the other: their MD5, and their metadata.
struct PhotoFileReader: ~Copyable {
  /// The size of a read, and of the head that is parsed: the EXIF of a JPEG is within the first segments of
  /// 64 KB, and so are the sizes of all JPEGs and PNGs but a few with very large colour profiles or strings.
  /// Other formats have this data at other offsets, where it is read.
  static let headSize = 1 << 20
  /// The size up to which a file is read into memory whole, where its format needs that: HEIC, AVIF, WebP. Each
  /// thread of a scan holds one.
  static let wholeMaximum = 64 << 20

  private let tree: PhotoTree
  private let zone: Int64
  private let libraries: ImageLibraries
  private var cursor: DirectoryCursor
  private var buffer: [UInt8] = []

  /// - Parameter zone: the offset of dates without a zone: seconds east of UTC
  init(_ tree: PhotoTree, in root: PhotoRoot, zone: Int64, libraries: ImageLibraries) {
    self.tree = tree
    self.zone = zone
    self.libraries = libraries
    cursor = DirectoryCursor(root)
  }

  /// Reads a file.
  ///
  /// - Parameter shouldContinue: called with the size of each part that was read; false cancels
  /// - Returns: nil when cancelled
  mutating func read(_ entry: PhotoEntry, _ shouldContinue: (Int) -> Bool) throws(OpenFile.Fault)
    -> ScannedPhoto?
  {
    let file = try OpenFile.file(entry.name, in: cursor.enter(entry.directory, of: tree))
    let before = try file.stamp()
    guard before.kind == .file else { throw .special }
    guard before.size > 0 else { throw .empty }
    if before.isRecent, file.isBeingWritten { throw .writing }
    Self.waitForClockTick(after: before)
    // One byte more than the file's size, so that a file that grew is detected.
    let capacity = before.size < Int64(Self.headSize) ? Int(before.size) + 1 : Self.headSize
    if buffer.count < capacity { buffer = [UInt8](repeating: 0, count: capacity) }
    defer { if buffer.count > Self.headSize + 1 { buffer = [] } }
    var hash = MD5Hash()
    var facts: ImageFacts?
    var total: Int64 = 0
    // Where the buffer keeps all of the file.
    var isWhole = false
    while true {
      let start = isWhole ? Int(total) : 0
      let count = try fill(start..<start + capacity, from: file, at: total)
      let isFirst = total == 0
      buffer.withUnsafeBytes { hash.update(UnsafeRawBufferPointer(rebasing: $0[start..<start + count])) }
      total += Int64(count)
      if isFirst {
        let needsAll = buffer.withUnsafeBytes {
          ImageFacts.needsAll(UnsafeRawBufferPointer(rebasing: $0.prefix(count)))
        }
        isWhole = needsAll && before.size <= Int64(Self.wholeMaximum)
        if isWhole {
          let missing = Int(before.size) + Self.headSize - buffer.count
          if missing > 0 { buffer += [UInt8](repeating: 0, count: missing) }
        } else {
          facts = imageFacts(count, of: file, size: before.size, name: entry.name)
        }
      }
      guard shouldContinue(count) else { return nil }
      if count < capacity || total > before.size { break }
    }
    guard total == before.size, try file.stamp() == before else {
      throw OpenFile.Fault("changed while it was read")
    }
    return ScannedPhoto(
      md5: hash.digest(), size: total, modified: before.modified, changed: before.changed,
      modifiedSeconds: before.modifiedSeconds,
      facts: facts ?? imageFacts(Int(total), of: file, size: total, name: entry.name))
  }

  /// Reads the metadata of a file whose first `count` bytes are in the buffer.
  private func imageFacts(_ count: Int, of file: borrowing OpenFile, size: Int64, name: String) -> ImageFacts
  {
    buffer.withUnsafeBytes {
      ImageFacts(
        head: UnsafeRawBufferPointer(rebasing: $0.prefix(count)), file: (file.number, size), name: name,
        zone: zone,
        libraries: libraries)
    }
  }

  /// Reads until a part of the buffer is full or the file ends.
  private mutating func fill(
    _ part: Range<Int>, from file: borrowing OpenFile, at offset: Int64
  ) throws(OpenFile.Fault) -> Int {
    var count = 0
    while count < part.count {
      let got = buffer.withUnsafeMutableBytes { bytes in
        pread(
          file.number, bytes.baseAddress?.advanced(by: part.lowerBound + count), part.count - count,
          off_t(offset) + off_t(count))
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

  /// Waits until the file system's clock has moved past a file's modification. It ticks in steps of some
  /// milliseconds: a file that is read within the step of its last change could change again with the same
  /// time.
  private static func waitForClockTick(after stamp: FileStamp) {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let now = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
    let age = now.partialValue.addingReportingOverflow(Int64(time.tv_nsec)).partialValue
      .subtractingReportingOverflow(stamp.modified)
    if !now.overflow, !age.overflow, (0..<10_000_000).contains(age.partialValue) { usleep(10_000) }
  }
}

/// A file that was read.
struct ScannedPhoto: Sendable, Equatable {
  var md5: MD5
  var size: Int64
  /// When it was read: Unix nanoseconds, as is `changed`.
  var modified: Int64
  var changed: Int64
  /// Unix seconds.
  var modifiedSeconds: Int64
  var facts: ImageFacts

  /// Unix seconds.
  var photodate: Int64 { facts.date ?? modifiedSeconds }

  /// Returns the file's row.
  func file(_ path: [UInt8], isHidden: Bool) -> KnownFile {
    KnownFile(path: path, md5: md5, size: size, modified: modified, changed: changed, isHidden: isHidden)
  }

  /// Returns the photo's row of the catalogue.
  ///
  /// - Parameter name: the file's name, without its directory
  func photo(named name: String) -> Photo {
    Photo(
      md5: md5, filename: name, size: size, photodate: photodate,
      modified: modifiedSeconds,
      width: facts.width, height: facts.height)
  }
}

/// Threads that read the files of a scan in parallel, and return the results in the files' order.
struct PhotoReaders {
  typealias Outcome = Result<ScannedPhoto, OpenFile.Fault>

  /// The maximum number of waiting results.
  private static let ahead = 2000

  let files: ReadAhead<PhotoEntry, Outcome>
  private let bytes: Locked<Int64>

  /// Starts to read.
  ///
  /// - Parameter parallel: the number of threads
  /// - Throws: `.noMemory` when no thread can be started
  init(_ files: [PhotoEntry], parallel: Int, _ makeReader: @escaping @Sendable () -> PhotoFileReader) throws {
    let bytes = Locked<Int64>(0)
    self.bytes = bytes
    self.files = ReadAhead(files, ahead: Self.ahead, threads: parallel) { files in
      var reader = makeReader()
      while let (index, file) = files.next() {
        let outcome: Outcome
        do throws(OpenFile.Fault) {
          let photo = try reader.read(file) { read in
            bytes.withLock { $0 += Int64(read) }
            return !files.isStopped
          }
          guard let photo else { return }
          outcome = .success(photo)
        } catch {
          outcome = .failure(error)
        }
        files.finish(outcome, at: index)
      }
    }
    if !files.isEmpty, !self.files.isRunning {
      throw SatchelError(.noMemory, "no thread can be started to read files")
    }
  }

  /// The numbers of files and bytes that were read.
  var done: (files: Int, bytes: Int64) { (files.done, bytes.withLock { $0 }) }
}
