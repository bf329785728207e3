from jaxlint.config import ConfigError as ConfigError
from jaxlint.finding import Edit as Edit
from jaxlint.finding import Finding as Finding
from jaxlint.finding import Fix as Fix
from jaxlint.finding import Safety as Safety
from jaxlint.finding import Severity as Severity
from jaxlint.finding import Span as Span
from jaxlint.programmatic import FixReport as FixReport
from jaxlint.programmatic import Refusal as Refusal
from jaxlint.programmatic import Report as Report
from jaxlint.programmatic import check as check
from jaxlint.programmatic import fix as fix
from jaxlint.source.file import SourceError as SourceError

def load_ipython_extension(shell: object) -> None: ...
def unload_ipython_extension(shell: object) -> None: ...

__version__: str
__all__: list[str]
