import SatchelStorage

extension SatchelError {
  /// Whether trying again soon may help.
  var isTransient: Bool { (code == .busy || code == .io) && !isBesideBatch }

  /// Whether another batch of this process is open, that the write is no part of.
  var isBesideBatch: Bool { underlying is BatchIsOpen }

  /// Whether the store cannot take anything at present, whatever it is; as opposed to not wanting this
  /// change.
  var isAboutStore: Bool {
    switch code {
    case .busy, .io, .full, .readOnly, .damaged: true
    default: false
    }
  }

  /// Whether a change that fails so fails whenever it is tried.
  var isRefusal: Bool {
    switch code {
    case .invalid, .notFound, .foreign, .internal: true
    default: false
    }
  }
}
