import SatchelStorage

/// Threads that read the files of a scan, a few at once, and keep what they learn until it is taken in the files' order.
struct PhotoReaders {
  typealias Outcome = Result<ScannedPhoto, OpenFile.Fault>

  /// How many outcomes may wait to be taken.
  private static let ahead = 2000

  let files: ReadAhead<PhotoEntry, Outcome>
  private let bytes: Guarded<Int64>

  /// Begins to read.
  ///
  /// - Parameter parallel: how many threads
  /// - Throws: `.noMemory` when none is to be had
  init(_ files: [PhotoEntry], parallel: Int, _ makeReader: @escaping @Sendable () -> PhotoFileReader) throws {
    let bytes = Guarded<Int64>(0)
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
        files.give(outcome, at: index)
      }
    }
    if !files.isEmpty, !self.files.isRunning { throw SatchelError(.noMemory, "no thread to be had") }
  }

  /// Files and bytes that were read.
  var done: (files: Int, bytes: Int64) { (files.done, bytes.withLock { $0 }) }
}
